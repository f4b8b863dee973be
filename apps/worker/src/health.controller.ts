import type { ServerResponse } from 'node:http';
import { type HostLoad, HostNode } from '@mailroom/hosting';
import { Controller, Get, Res } from '@nestjs/common';

/** For whoever restarts processes (`live`) and whoever counts those that work (`ready`). */
@Controller('health')
export class HealthController {
  constructor(private readonly node: HostNode) {}

  @Get('live')
  live(): { status: string } {
    return { status: 'ok' };
  }

  @Get('ready')
  async ready(
    @Res({ passthrough: true }) response: ServerResponse,
  ): Promise<{ status: string; reason?: string; load: HostLoad }> {
    const reason = await this.node.fault();
    if (reason === undefined) return { status: 'ok', load: this.node.host.load };
    response.statusCode = 503;
    return { status: 'unavailable', reason, load: this.node.host.load };
  }
}
