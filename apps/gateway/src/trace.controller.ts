import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TraceHead, TraceSpan } from '@mailroom/contracts';
import { HostNode, SessionTrace } from '@mailroom/hosting';
import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { z } from 'zod';
import { Exchange, ThisExchange } from './exchange';
import { SessionService } from './session-service';

/** How long a client may leave the answer unread before it is cut off. */
const STALL_MS = 30_000;

/** `?content=true` with what was said, `?format=jsonl` one object a line. */
const traceQuery = z.object({
  content: z.enum(['true', 'false']).default('false'),
  format: z.enum(['json', 'jsonl']).default('json'),
});
type TraceQuery = z.output<typeof traceQuery>;

const TYPES = { json: 'application/json; charset=utf-8', jsonl: 'application/jsonl; charset=utf-8' };

/** What happened in a session, as spans. */
@Controller('api/v1/sessions/:id/trace')
export class TraceController {
  private readonly trace: SessionTrace;

  constructor(
    private readonly sessions: SessionService,
    { requests }: HostNode,
  ) {
    this.trace = new SessionTrace(requests.sessions, requests.events);
  }

  @Get()
  async read(
    @ThisExchange() { space, left, response }: Exchange,
    @Param('id') id: string,
    @Query({ schema: traceQuery }) { content, format }: TraceQuery,
    // Tells Nest that the answer is written here.
    @Res() _response: ServerResponse,
  ): Promise<void> {
    const detail = await this.sessions.detail(space, id);
    const { head, spans } = await this.trace.read(space, detail, content === 'true');
    if (left.aborted) return;
    response.setHeader('content-type', TYPES[format]);
    response.setTimeout(STALL_MS, () => response.destroy());
    const text = format === 'jsonl' ? asLines(head, spans) : asObject(head, spans);
    try {
      await pipeline(Readable.from(text), response);
    } catch (error) {
      if (!left.aborted) throw error;
    }
  }
}

async function* asLines(head: TraceHead, spans: AsyncIterable<TraceSpan>): AsyncGenerator<string> {
  yield `${JSON.stringify(head)}\n`;
  for await (const span of spans) yield `${JSON.stringify(span)}\n`;
}

/** The head with the list of spans as its last member. */
async function* asObject(head: TraceHead, spans: AsyncIterable<TraceSpan>): AsyncGenerator<string> {
  let before = `${JSON.stringify(head).slice(0, -1)},"spans":[`;
  for await (const span of spans) {
    yield before + JSON.stringify(span);
    before = ',';
  }
  yield before === ',' ? ']}' : `${before}]}`;
}
