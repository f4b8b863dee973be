import { LEAD, type SessionEvent } from '@mailroom/contracts';

/** One load of a sub-agent, as `as` and `ax` tell it. */
export interface ActivationFact {
  id: string;
  agent: string;
  runId: string | undefined;
  /** The handoff for which an instance was loaded. */
  handoff: CallFact | undefined;
  startedAt?: string;
  endedAt?: string;
  reason?: string;
  attributes: Record<string, unknown>;
}

/** The commit of a model's answer, as `u` tells it. */
export interface AnswerFact {
  at: string;
  latencyMs: number;
  attempts: number;
  activation: ActivationFact | undefined;
}

/** A tool call or a handoff: first and last event, and what they say of it. */
export interface CallFact {
  startedAt?: string;
  endedAt?: string;
  data: Record<string, unknown>;
  /** Of a handoff, once its call was found in the caller's journal. */
  spanId?: string;
}

/**
 * What a session's events tell of its spans: times, hosts, attempts. Texts are not kept. Events may be trimmed, so
 * everything may be missing.
 */
export class EventFacts {
  readonly activations: ActivationFact[] = [];
  private readonly loaded = new Map<string, ActivationFact>();
  private readonly answers = new Map<string, AnswerFact>();
  private readonly tools = new Map<string, CallFact>();
  private readonly handoffs = new Map<string, CallFact>();
  /** The key of the latest call of an agent with an id, which may repeat in later steps. */
  private readonly latest = new Map<string, string>();
  /** The handoff for which an instance works. */
  private readonly workFor = new Map<string, CallFact>();
  private readonly messageRuns = new Map<string, string>();

  /** Takes the events of the session one by one, oldest first. */
  take(event: SessionEvent): void {
    const { event: code, agentId = LEAD, data, at } = event;
    if (code === 'as' || code === 'ax') this.takeActivation(event, agentId);
    else if (code === 'u') {
      this.answers.set(`${agentId}:${data.step}`, {
        at,
        latencyMs: Number(data.latencyMs ?? 0),
        attempts: Number(data.attempt ?? 1),
        activation: this.loaded.get(agentId),
      });
    } else if (code === 'ts' || code === 'tr') this.takeCall(event, agentId);
    else if (code === 'hs' || code === 'he') this.takeHandoff(event, agentId);
    else if (typeof data.msgId === 'string' && event.runId) this.messageRuns.set(data.msgId, event.runId);
  }

  answer(agent: string, step: number): AnswerFact | undefined {
    return this.answers.get(`${agent}:${step}`);
  }

  tool(agent: string, step: number, callId: string): CallFact | undefined {
    return this.tools.get(callKey(agent, step, callId));
  }

  handoff(agent: string, step: number, callId: string): CallFact | undefined {
    return this.handoffs.get(callKey(agent, step, callId)) ?? this.handoffs.get(callKey(agent, '?', callId));
  }

  runOf(msgId: string): string | undefined {
    return this.messageRuns.get(msgId);
  }

  private takeActivation({ event, runId, data, at }: SessionEvent, agent: string): void {
    const id = `activation:${agent}:${data.epoch}`;
    let fact = this.loaded.get(agent);
    if (event === 'as' || fact?.id !== id) {
      fact = { id, agent, runId, handoff: this.workFor.get(agent), attributes: { ...data } };
      this.activations.push(fact);
      this.loaded.set(agent, fact);
    }
    if (event === 'as') fact.startedAt = at;
    else {
      fact.endedAt = at;
      fact.reason = String(data.reason);
      fact.attributes = { ...fact.attributes, ...data };
      this.loaded.delete(agent);
    }
  }

  private takeCall({ event, data, at }: SessionEvent, agent: string): void {
    const { toolCallId, step } = data as { toolCallId: string; step?: number };
    const about = `${agent}:${toolCallId}`;
    const key = step === undefined ? this.latest.get(about) : callKey(agent, step, toolCallId);
    if (key === undefined) return;
    const fact = this.tools.get(key) ?? { data: {} };
    this.tools.set(key, fact);
    if (event === 'tr') fact.endedAt = at;
    else {
      fact.startedAt = at;
      this.latest.set(about, key);
    }
  }

  private takeHandoff({ event, data, at }: SessionEvent, agent: string): void {
    const callId = String(data.callId);
    const key = this.latest.get(`${agent}:${callId}`) ?? callKey(agent, '?', callId);
    const fact = this.handoffs.get(key) ?? { data: {} };
    this.handoffs.set(key, fact);
    fact.data = { ...fact.data, ...data };
    if (event === 'he') fact.endedAt = at;
    // A further attempt begins nothing anew.
    else fact.startedAt ??= at;
    if (event === 'hs' && typeof data.to === 'string') this.workFor.set(data.to, fact);
  }
}

function callKey(agent: string, step: number | '?', callId: string): string {
  return `${agent}:${step}:${callId}`;
}

export function runSpanId(runId: string): string {
  return `run:${runId}`;
}
