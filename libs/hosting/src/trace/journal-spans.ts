import type {
  AgentMessage,
  AssistantEntry,
  HandoffEntry,
  JournalEntry,
  SentEntry,
  SummaryEntry,
  ToolCall,
  ToolEntry,
  TraceStatus,
} from '@mailroom/contracts';
import { type EventFacts, runSpanId } from './event-facts';
import { type FoundSpan, isoOf, msOf } from './found-span';

/** What the journals of a session have in common while its trace is put together. */
export interface JournalContext {
  facts: EventFacts;
  messages: ReadonlyMap<string, Pick<AgentMessage, 'ts'>>;
  /** By message, the call that sent it. */
  senders: Map<string, string>;
}

interface OpenCall {
  found: FoundSpan;
  step: FoundSpan;
}

/** The spans of one agent's journal: steps, model calls, tool calls and handoffs. Takes the entries one by one. */
export class JournalSpans {
  readonly found: FoundSpan[] = [];
  private readonly calls = new Map<string, OpenCall>();
  private index = -1;
  /** Latest time that is known to be before what comes next. */
  private floor = 0;
  private runId: string | undefined;

  constructor(
    private readonly agent: string,
    private readonly context: JournalContext,
  ) {}

  take(entry: JournalEntry): void {
    this.index++;
    if (entry.kind === 'mail') this.takeMail(entry.ids);
    else if (entry.kind === 'assistant') this.takeAnswer(entry);
    else if (entry.kind === 'tool' || entry.kind === 'sent' || entry.kind === 'handoff') this.takeResult(entry);
    else if (entry.kind === 'summary') this.takeSummary(entry);
    else if (entry.kind === 'engine' && entry.code === 'failure') this.takeFailure();
  }

  private takeMail(ids: readonly string[]): void {
    for (const id of ids) {
      this.floor = Math.max(this.floor, msOf(this.context.messages.get(id)?.ts) ?? 0);
      this.runId = this.context.facts.runOf(id) ?? this.runId;
    }
  }

  private takeAnswer(entry: AssistantEntry): void {
    const { agent, context } = this;
    const { step } = entry;
    const fact = context.facts.answer(agent, step);
    const endMs = msOf(fact?.at);
    // Clocks of host and Redis differ by their rounding; nothing begins before what it answers, or before its host.
    const startMs =
      endMs === undefined
        ? undefined
        : Math.min(endMs, Math.max(endMs - (fact?.latencyMs ?? 0), this.floor, msOf(fact?.activation?.startedAt) ?? 0));
    const times = startMs === undefined ? {} : { startedAt: isoOf(startMs), endedAt: isoOf(endMs ?? startMs) };
    this.runId = entry.runId || undefined;
    const parentId = fact?.activation?.id ?? (this.runId && runSpanId(this.runId));
    const stepId = `step:${agent}:${step}`;
    const common = { agent, status: 'ok' as const, ...times };
    const found = this.add({
      order: startMs ?? this.floor,
      span: {
        id: stepId,
        ...(parentId && { parentId }),
        kind: 'step',
        name: `step ${step}`,
        ...common,
        attributes: { step, runId: entry.runId, openTasks: entry.openTasks, ...(entry.last && { last: true }) },
      },
    });
    this.add({
      order: startMs ?? this.floor,
      place: { kind: 'model', agent, at: this.index },
      span: {
        id: `model:${agent}:${step}`,
        parentId: stepId,
        kind: 'model',
        name: entry.model,
        ...common,
        attributes: {
          model: entry.model,
          ...entry.usage,
          ...(fact && { latencyMs: fact.latencyMs, attempts: fact.attempts }),
        },
      },
    });
    this.floor = Math.max(this.floor, endMs ?? 0);
    this.calls.clear();
    for (const call of entry.toolCalls) this.takeCall(call, step, found);
  }

  private takeCall(call: ToolCall, step: number, parent: FoundSpan): void {
    const { agent, context, index: at } = this;
    const handoff = context.facts.handoff(agent, step, call.id);
    const fact = handoff ?? context.facts.tool(agent, step, call.id);
    const key = `${agent}:${step}:${call.id}`;
    const found = this.add({
      order: msOf(fact?.startedAt) ?? this.floor,
      place: { kind: 'call', agent, at, callId: call.id, ...errorOf(handoff?.data) },
      span: {
        id: `${handoff ? 'handoff' : 'tool'}:${key}`,
        parentId: parent.span.id,
        kind: handoff ? 'handoff' : 'tool',
        name: call.name,
        agent,
        ...(fact?.startedAt && { startedAt: fact.startedAt }),
        ...(fact?.endedAt && { endedAt: fact.endedAt }),
        status: 'running',
        attributes: { callId: call.id, ...withoutTexts(handoff?.data) },
      },
    });
    if (handoff) handoff.spanId = found.span.id;
    parent.span.status = 'running';
    this.calls.set(call.id, { found, step: parent });
  }

  private takeResult(entry: ToolEntry | SentEntry | HandoffEntry): void {
    const call = this.calls.get(entry.callId);
    if (!call) return;
    const { span, place } = call.found;
    if (place?.kind === 'call') place.resultAt = this.index;
    if (entry.kind === 'handoff') {
      span.kind = 'handoff';
      span.id = `handoff${span.id.slice(span.id.indexOf(':'))}`;
      const { outcome, to, attempts, steps } = entry;
      Object.assign(span.attributes, { outcome, to, attempts, steps });
    } else if (entry.kind === 'sent') {
      Object.assign(span.attributes, { code: entry.code, to: entry.to, type: entry.type });
      if (entry.code === 'ok') {
        span.attributes.msgId = entry.msgId;
        this.context.senders.set(entry.msgId, span.id);
      }
    }
    span.status = statusOf(entry);
    if (span.status === 'running') return;
    this.floor = Math.max(this.floor, msOf(span.endedAt) ?? 0);
    const { span: step } = call.step;
    if (span.endedAt && step.endedAt && span.endedAt > step.endedAt) step.endedAt = span.endedAt;
    if ([...this.calls.values()].every(({ found }) => found.span.status !== 'running')) step.status = 'ok';
  }

  private takeSummary({ model, usage, upTo, runId }: SummaryEntry): void {
    this.add({
      order: this.floor,
      place: { kind: 'model', agent: this.agent, at: this.index },
      span: {
        id: `model:${this.agent}:summary@${this.index}`,
        ...(runId && { parentId: runSpanId(runId) }),
        kind: 'model',
        name: model,
        agent: this.agent,
        status: 'ok',
        attributes: { model, ...usage, purpose: 'summary', upTo },
      },
    });
  }

  /** A step whose model call failed for good; the journal has no more of it than that. */
  private takeFailure(): void {
    this.add({
      order: this.floor,
      span: {
        id: `model:${this.agent}:failed@${this.index}`,
        ...(this.runId && { parentId: runSpanId(this.runId) }),
        kind: 'model',
        name: 'failed',
        agent: this.agent,
        status: 'failed',
        attributes: {},
      },
    });
  }

  private add(found: FoundSpan): FoundSpan {
    this.found.push(found);
    return found;
  }
}

function statusOf(entry: ToolEntry | SentEntry | HandoffEntry): TraceStatus {
  if (entry.kind === 'sent') return entry.code === 'ok' ? 'ok' : 'failed';
  if (entry.kind === 'tool') return entry.error ? (entry.content === 'cancelled' ? 'cancelled' : 'failed') : 'ok';
  // With `fallback` the caller's own tool still answers. A question ends the call; its answer is another one.
  if (entry.outcome === 'fallback') return 'running';
  return entry.outcome === 'completed' || entry.outcome === 'asked' ? 'ok' : 'failed';
}

/** What the events of a handoff say of it, without what was said in it. */
function withoutTexts(data: Record<string, unknown> = {}): Record<string, unknown> {
  const { content: _content, ...rest } = data;
  return rest;
}

function errorOf(data: Record<string, unknown> = {}): { error?: string } {
  const { status, content } = data;
  return (status === 'failed' || status === 'denied') && typeof content === 'string' ? { error: content } : {};
}
