import type { SessionUsage, SpaceUsage } from '@mailroom/contracts';
import { HostNode } from '@mailroom/hosting';
import { sessionUsageOf, spaceUsageOf } from '@mailroom/mailbox';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { pageOf } from './paging';
import { SessionService } from './session-service';
import { Space } from './space';
import {
  rangeOf,
  type SessionUsageQuery,
  type SpaceUsageQuery,
  sessionUsageQuery,
  spaceUsageQuery,
} from './usage-query';

/** What was spent (R21). */
@Controller('api/v1')
export class UsageController {
  constructor(
    private readonly sessions: SessionService,
    private readonly node: HostNode,
  ) {}

  @Get('sessions/:id/usage')
  async ofSession(
    @Space() space: string,
    @Param('id') id: string,
    @Query({ schema: sessionUsageQuery }) query: SessionUsageQuery,
  ): Promise<SessionUsage> {
    const account = await this.sessions.account(space, id);
    const report = sessionUsageOf(id, account);
    if (!query.rows) return report;
    const { items, ...next } = await pageOf(query, async (offset, count) => account.slice(offset, offset + count));
    return { ...report, rows: items, ...next };
  }

  @Get('usage')
  ofSpace(@Space() space: string, @Query({ schema: spaceUsageQuery }) query: SpaceUsageQuery): Promise<SpaceUsage> {
    const { from, to } = rangeOf(query, Date.now());
    const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
    return spaceUsageOf(this.node.requests.accounts.ofSpace(space, from, to), range, query.groupBy);
  }
}
