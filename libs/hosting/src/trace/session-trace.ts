import {
  type AgentMessage,
  LEAD,
  type Run,
  type SessionDetail,
  type TraceHead,
  type TraceSpan,
  type TraceStatus,
} from '@mailroom/contracts';
import type { EventFeed, SessionReader } from '@mailroom/mailbox';
import { type ActivationFact, EventFacts, runSpanId } from './event-facts';
import { type FoundSpan, msOf } from './found-span';
import { JournalSpans } from './journal-spans';
import { CHUNK, TraceContent } from './trace-content';

/** A session's trace: what goes before the spans, and the spans by start. */
export interface OpenTrace {
  head: TraceHead;
  spans: AsyncGenerator<TraceSpan>;
}

const PAGE = 500;

/**
 * Puts a session's trace together from what the store has: journals and messages, which are whole, and events, which
 * may be trimmed. Holds the outline of all spans, but of what was said only one span's worth.
 */
export class SessionTrace {
  constructor(
    private readonly sessions: SessionReader,
    private readonly events: EventFeed,
  ) {}

  /** `detail` names the agents. Reads the outline before it resolves, contents while the spans are taken. */
  async read(space: string, detail: SessionDetail, wantsContent: boolean): Promise<OpenTrace> {
    const { id: sessionId, status } = detail;
    const facts = await this.readEvents(sessionId);
    // Afterwards: what was trimmed while the events were read is missing as well.
    const truncated = await this.events.isTrimmed(sessionId);
    const found = await this.outline(space, detail, facts);
    const content = wantsContent ? new TraceContent(this.sessions, space, sessionId) : undefined;
    return { head: { kind: 'trace', sessionId, status, truncated }, spans: told(found, content) };
  }

  private async readEvents(sessionId: string): Promise<EventFacts> {
    const facts = new EventFacts();
    for (let cursor = ''; ; ) {
      const page = await this.events.read(sessionId, cursor, PAGE);
      for (const event of page) facts.take(event);
      cursor = page.at(-1)?.id ?? cursor;
      if (page.length < PAGE) return facts;
    }
  }

  private async outline(space: string, detail: SessionDetail, facts: EventFacts): Promise<FoundSpan[]> {
    const { id: sessionId } = detail;
    const messages = new Map<string, Omit<AgentMessage, 'content' | 'context'>>();
    for await (const { content: _content, context: _context, ...head } of this.inChunks((offset) =>
      this.sessions.ledger(space, sessionId, offset, CHUNK),
    ))
      messages.set(head.msgId, head);
    const found: FoundSpan[] = [];
    for await (const run of this.inChunks((offset) => this.sessions.runs(space, sessionId, offset, CHUNK)))
      found.push(runSpan(run));
    const senders = new Map<string, string>();
    const steps: FoundSpan[] = [];
    for (const { id: agent } of detail.agents) {
      const spans = new JournalSpans(agent, { facts, messages, senders });
      for await (const entry of this.inChunks((offset) =>
        this.sessions.journalPart(sessionId, agent, offset, offset + CHUNK - 1),
      ))
        spans.take(entry);
      steps.push(...spans.found);
    }
    found.push(...facts.activations.map(activationSpan), ...steps);
    for (const message of messages.values()) {
      const run = facts.runOf(message.msgId);
      found.push(messageSpan(message, senders.get(message.msgId) ?? (run && runSpanId(run))));
    }
    return inOrder(found);
  }

  private async *inChunks<T>(read: (offset: number) => Promise<T[] | undefined>): AsyncGenerator<T> {
    for (let offset = 0; ; offset += CHUNK) {
      const chunk = (await read(offset)) ?? [];
      yield* chunk;
      if (chunk.length < CHUNK) return;
    }
  }
}

/**
 * By start, and parents before their children: the clock of a message and those of the events of the same script may
 * differ by a millisecond. The sort is stable, so spans of one journal that have no times stay in its order.
 */
function inOrder(found: FoundSpan[]): FoundSpan[] {
  const byId = new Map(found.map((one) => [one.span.id, one]));
  const orderOf = (one: FoundSpan): number => {
    const parent = byId.get(one.span.parentId ?? '');
    // Activations are found before the handoffs that they may belong to.
    const after = one.span.kind === 'activation' && parent?.span.kind === 'handoff' ? 0.5 : 0;
    return parent ? Math.max(one.order, orderOf(parent) + after) : one.order;
  };
  return found
    .map((one) => ({ one, order: orderOf(one) }))
    .sort((a, b) => a.order - b.order)
    .map(({ one }) => one);
}

async function* told(found: readonly FoundSpan[], content: TraceContent | undefined): AsyncGenerator<TraceSpan> {
  for (const { span, place } of found) {
    const said = content && place && (await content.at(place));
    yield said ? { ...span, content: said } : span;
  }
}

const RUN_STATUS: Partial<Record<Run['status'], TraceStatus>> = {
  completed: 'ok',
  failed: 'failed',
  cancelled: 'cancelled',
};

function runSpan({ id, status, reason, usage, startedAt, endedAt }: Run): FoundSpan {
  return {
    order: msOf(startedAt) ?? 0,
    place: { kind: 'run', runId: id },
    span: {
      id: runSpanId(id),
      kind: 'run',
      name: id,
      agent: LEAD,
      startedAt,
      ...(endedAt && { endedAt }),
      status: RUN_STATUS[status] ?? 'running',
      attributes: { status, ...(reason && { reason }), usage },
    },
  };
}

function activationSpan(fact: ActivationFact): FoundSpan {
  const { id, agent, runId, handoff, startedAt, endedAt, reason, attributes } = fact;
  const parentId = handoff?.spanId ?? (runId && runSpanId(runId));
  return {
    order: msOf(startedAt ?? endedAt) ?? 0,
    span: {
      id,
      ...(parentId && { parentId }),
      kind: 'activation',
      name: agent,
      agent,
      ...(startedAt && { startedAt }),
      ...(endedAt && { endedAt }),
      status: exitStatus(reason),
      attributes,
    },
  };
}

function exitStatus(reason: string | undefined): TraceStatus {
  if (reason === undefined) return 'running';
  if (reason === 'error' || reason === 'lost') return 'failed';
  return reason === 'cancelled' ? 'cancelled' : 'ok';
}

function messageSpan(message: Omit<AgentMessage, 'content' | 'context'>, parentId: string | undefined): FoundSpan {
  const { ts, status, ...attributes } = message;
  const isFailed = status === 'failed' || status === 'timeout';
  return {
    order: msOf(ts) ?? 0,
    place: { kind: 'message', msgId: message.msgId },
    span: {
      id: `message:${message.msgId}`,
      ...(parentId && { parentId }),
      kind: 'message',
      name: message.type,
      agent: message.from,
      startedAt: ts,
      endedAt: ts,
      status: isFailed ? 'failed' : status === 'cancelled' ? 'cancelled' : 'ok',
      attributes: { ...attributes, ...(status && { status }) },
    },
  };
}
