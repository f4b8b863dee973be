import type { ServerResponse } from 'node:http';
import type { SessionEvent } from '@mailroom/contracts';
import { HostNode } from '@mailroom/hosting';
import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { type EventQuery, eventFilter, eventQuery, type LogQuery, logQuery } from './event-query';
import { EventStream } from './event-stream';
import { Exchange, ThisExchange } from './exchange';
import { SessionService } from './session-service';
import { Space } from './space';

/** A session's events: live, and as pages. */
@Controller('api/v1/sessions/:id/events')
export class EventsController {
  constructor(
    private readonly sessions: SessionService,
    private readonly stream: EventStream,
    private readonly node: HostNode,
  ) {}

  @Get()
  async live(
    @ThisExchange() { space, lastEventId, left, response }: Exchange,
    @Param('id') sessionId: string,
    @Query({ schema: eventQuery }) query: EventQuery,
    // Tells Nest that the answer is written here.
    @Res() _response: ServerResponse,
  ): Promise<void> {
    const after = lastEventId ?? query.after;
    await this.sessions.summary(space, sessionId);
    await this.stream.send({ space, sessionId, after, wants: eventFilter(query) }, response, left);
  }

  @Get('log')
  async log(
    @Space() space: string,
    @Param('id') sessionId: string,
    @Query({ schema: logQuery }) query: LogQuery,
  ): Promise<{ events: SessionEvent[]; next?: string }> {
    await this.sessions.summary(space, sessionId);
    const found = await this.node.requests.events.read(sessionId, query.after, query.limit + 1);
    const page = found.slice(0, query.limit);
    const next = found.length > query.limit ? page.at(-1)?.id : undefined;
    return { events: page.filter(eventFilter(query)), ...(next && { next }) };
  }
}
