import type { CallRecord, JournalEntry, SentEntry } from '@mailroom/contracts';
import { LEAD } from '@mailroom/contracts';
import type { CommitReceipt, Fence, Inbox, Lease, OutgoingHandoff, StepPart } from '../lease';
import type { Mailbox } from '../mailbox';
import { derivedMessageId, newMessageId } from '../message-id';

/** What an activation needs of its session. */
interface Session {
  mailbox: Mailbox;
  journal(agent: string): Promise<JournalEntry[]>;
}

/** One activation, driven by hand: what a host would do, step by step. */
export class LoadedAgent {
  inbox: Inbox | undefined;
  private committed = 0;

  constructor(
    private readonly session: Session,
    readonly lease: Lease,
  ) {}

  /** Drains; returns the whole journal. */
  async read(): Promise<Inbox> {
    this.inbox = await this.session.mailbox.readInbox(this.lease, 0);
    this.committed = 0;
    return this.inbox;
  }

  get fence(): Fence {
    if (!this.inbox) throw new Error('read first');
    return { ...this.inbox.fence, n: this.inbox.fence.n + this.committed };
  }

  async commit(part: Partial<StepPart>): Promise<CommitReceipt> {
    const receipt = await this.session.mailbox.commit(this.fence, {
      entries: [],
      events: [],
      sends: [],
      park: 'no',
      ...part,
    });
    this.committed++;
    return receipt;
  }

  /** A step that sends one message; returns what became of it. */
  async send(to: string, type: string, inReplyTo?: string, part: Partial<StepPart> = {}): Promise<SentEntry> {
    const msgId = newMessageId();
    const content = `${type} of ${this.lease.agent}`;
    await this.step({
      sends: [{ callId: `call_${msgId}`, msgId, to, type, content, ...(inReplyTo !== undefined && { inReplyTo }) }],
      ...part,
    });
    const journal = await this.session.journal(this.lease.agent);
    return journal.findLast((entry): entry is SentEntry => entry.kind === 'sent' && entry.msgId === msgId) as SentEntry;
  }

  /** A model call's commit. */
  step(part: Partial<StepPart>): Promise<CommitReceipt> {
    const step = (this.inbox?.step ?? 0) + this.committed + 1;
    return this.commit({ step, usage: this.call({ step }), ...part });
  }

  /** The record of a model call without a price. */
  call(record: Partial<CallRecord> = {}): CallRecord {
    const instance = this.lease.agent;
    const spent = { model: 'scripted', attempts: 1, input: 10, output: 5 };
    return { agent: instance === LEAD ? 'boss' : instance, instance, step: 1, status: 'ok', ...spent, ...record };
  }

  /**
   * A step that calls colleagues as tools, one call for each address, on the same terms. `open`: ids of calls
   * of its own tools in the same answer. Returns the ids of the calls of colleagues.
   */
  async handOff(
    to: readonly string[],
    terms: Partial<OutgoingHandoff> = {},
    open: readonly string[] = [],
  ): Promise<string[]> {
    const { sessionId, agent } = this.lease;
    const step = (this.inbox?.step ?? 0) + this.committed + 1;
    const handoffs = to.map((address, i): OutgoingHandoff => {
      const callId = `call_${step}_${i}`;
      const as = address.replace(/^.*\//, '').replace(/#.*$/, '');
      return {
        callId,
        id: derivedMessageId(sessionId, agent, step, callId, 'handoff').replace('msg_', 'hof_'),
        tool: `subagent_${as}`,
        to: address,
        agent: as,
        mode: address.includes('#') ? 'new' : 'reuse',
        depth: address.split('/').length,
        maxDepth: 2,
        max: 1,
        timeoutMs: 0,
        fallback: false,
        content: `a task for ${as}`,
        ...terms,
      };
    });
    const calls = handoffs.map(({ callId }) => callId);
    await this.step({ entries: [answerWith([...calls, ...open])], handoffs, ...(open.length > 0 && { open }) });
    return calls;
  }

  /** A step that answers a question of a called colleague. Returns the id of the call. */
  async answer(question: string): Promise<string> {
    const step = (this.inbox?.step ?? 0) + this.committed + 1;
    const callId = `call_${step}_answer`;
    await this.step({
      entries: [answerWith([callId])],
      answers: [{ callId, msgId: newMessageId(), question, content: 'an answer' }],
    });
    return callId;
  }

  /** The end of an agent's work on its task with a failure. */
  fail(code?: string): Promise<CommitReceipt> {
    return this.step({
      final: { status: 'failed', force: true, text: 'it failed', ...(code && { code }) },
      park: 'yes',
    });
  }

  /** A step without tool calls: a lead's answer, a sub-agent's result. */
  say(text: string, force = false): Promise<CommitReceipt> {
    return this.lease.agent === LEAD
      ? this.step({ settle: { status: 'completed', force, text } })
      : this.step({ final: { status: 'ok', force, text } });
  }

  /** A step that only waits for mail. */
  park(): Promise<CommitReceipt> {
    return this.step({ park: 'yes' });
  }

  exit(): Promise<boolean> {
    return this.session.mailbox.exit(this.lease, 'idle_timeout');
  }

  release(reason: 'released' | 'evicted' | 'error' = 'released'): Promise<void> {
    return this.session.mailbox.release(this.lease, reason);
  }
}

/** A model's answer with these calls. */
function answerWith(calls: readonly string[]): JournalEntry {
  return {
    kind: 'assistant',
    step: 0,
    runId: '',
    openTasks: [],
    content: '',
    toolCalls: calls.map((id) => ({ id, name: 'some', arguments: '{}' })),
    model: 'none',
    usage: { input: 0, output: 0, cached: 0, reasoning: 0 },
  };
}
