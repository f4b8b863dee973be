import {
  AppError,
  cancelBody,
  isSettled,
  type OpenSessionBody,
  openSessionBody,
  type PostMessageBody,
  postMessageBody,
  type Run,
  type SessionDetail,
  type SessionSummary,
} from '@mailroom/contracts';
import { HostNode } from '@mailroom/hosting';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import type { z } from 'zod';
import { Exchange, ThisExchange } from './exchange';
import { type PageQuery, pageOf, pageQuery, type WaitQuery, waitQuery } from './paging';
import { type RunAddress, RunWaiter } from './run-waiter';
import { SessionService } from './session-service';
import { Space } from './space';

/** Sessions and their runs. */
@Controller('api/v1/sessions')
export class SessionsController {
  constructor(
    private readonly sessions: SessionService,
    private readonly waiter: RunWaiter,
    private readonly node: HostNode,
  ) {}

  @Post()
  async open(
    @ThisExchange() exchange: Exchange,
    @Body({ schema: openSessionBody }) body: OpenSessionBody,
    @Query({ schema: waitQuery }) { wait }: WaitQuery,
  ): Promise<{ id: string; status: string; leadAgentId: string; run?: Run }> {
    const { space, left, response } = exchange;
    const { id, status, leadAgentId, runId } = await this.sessions.open(space, body, exchange);
    response.setHeader('location', `/api/v1/sessions/${id}`);
    const run = runId === undefined ? undefined : await this.run({ space, sessionId: id, runId }, wait, left);
    if (wait !== undefined && run) response.statusCode = isSettled(run.status) ? 200 : 202;
    return { id, status, leadAgentId, ...(run && { run }) };
  }

  @Get()
  async list(
    @Space() space: string,
    @Query({ schema: pageQuery }) query: PageQuery,
  ): Promise<{ sessions: SessionSummary[]; next?: string }> {
    const { items, ...next } = await pageOf(query, (offset, count) =>
      this.node.requests.sessions.list(space, offset, count),
    );
    return { sessions: items, ...next };
  }

  @Get(':id')
  detail(@Space() space: string, @Param('id') id: string): Promise<SessionDetail> {
    return this.sessions.detail(space, id);
  }

  @Post(':id/messages')
  @HttpCode(202)
  async post(
    @ThisExchange() exchange: Exchange,
    @Param('id') sessionId: string,
    @Body({ schema: postMessageBody }) body: PostMessageBody,
    @Query({ schema: waitQuery }) { wait }: WaitQuery,
  ): Promise<{ msgId: string; runId: string } & Partial<Run>> {
    const { space, left, response } = exchange;
    const { msgId, runId } = await this.sessions.post(space, sessionId, body, exchange);
    if (wait === undefined) return { msgId, runId };
    const run = await this.run({ space, sessionId, runId }, wait, left);
    if (isSettled(run.status)) response.statusCode = 200;
    return { msgId, runId, ...run };
  }

  @Get(':id/runs/:run')
  async readRun(@Space() space: string, @Param('id') sessionId: string, @Param('run') runId: string): Promise<Run> {
    await this.sessions.summary(space, sessionId);
    return this.run({ space, sessionId, runId });
  }

  @Post(':id/cancel')
  @HttpCode(202)
  async cancel(
    @Space() space: string,
    @Param('id') id: string,
    @Body({ schema: cancelBody }) { reason }: z.output<typeof cancelBody>,
  ): Promise<{ runId?: string }> {
    const runId = await this.sessions.cancel(space, id, reason);
    return runId === undefined ? {} : { runId };
  }

  @Post(':id/agents/:agent/cancel')
  @HttpCode(202)
  async cancelAgent(
    @Space() space: string,
    @Param('id') id: string,
    @Param('agent') agent: string,
    @Body({ schema: cancelBody }) { reason }: z.output<typeof cancelBody>,
  ): Promise<Record<string, never>> {
    await this.sessions.cancelAgent(space, id, agent, reason);
    return {};
  }

  @Delete(':id')
  @HttpCode(204)
  close(@Space() space: string, @Param('id') id: string): Promise<void> {
    return this.sessions.close(space, id);
  }

  private async run(address: RunAddress, waitMs?: number, left?: AbortSignal): Promise<Run> {
    if (waitMs !== undefined && left) return this.waiter.settled(address, waitMs, left);
    const run = await this.node.requests.sessions.run(address.space, address.sessionId, address.runId);
    if (!run) throw new AppError('not_found', `the session has no run "${address.runId}"`);
    return run;
  }
}
