import { randomUUID } from 'node:crypto';
import type { ActivationJob } from '@mailroom/contracts';
import { type Fence, type Lease, RedisMailbox } from '@mailroom/mailbox';
import type { Redis } from 'ioredis';

const NEVER = 1_000_000_000;
const CONTENT = 'Take the figures of the second quarter instead. '.repeat(4);

/** As long as a model's answer with a tool call. */
const ANSWER = 'Revenue grew by 12 percent, mostly in the north. '.repeat(4);

/**
 * An agent that this process claims itself, through the product's mailbox and without any loop, host or model: what the
 * store costs by itself. Under a prefix of its own, so that no worker takes it.
 */
export class HeldAgent {
  private known = 0;
  private step = 0;
  private fence: Fence | undefined;

  private constructor(
    private readonly mailbox: RedisMailbox,
    readonly lease: Lease,
  ) {}

  /** Opens a session and claims its only sub-agent, of that definition, which has read one task. */
  static async claim(redis: Redis, prefix: string, definition = 'nobody'): Promise<HeldAgent> {
    const jobs: ActivationJob[] = [];
    const mailbox = new RedisMailbox(redis, { prefix, activate: (job) => jobs.push(job) });
    const id = `session_${randomUUID()}`;
    const roster = [{ as: definition, agent: definition }];
    const settings = { callLimit: NEVER, mailboxSize: NEVER, clarifyMs: NEVER, waitBudgetMs: NEVER };
    await mailbox.openSession({
      id,
      space: 'default',
      leadAgentId: definition,
      roster,
      metadata: {},
      fingerprint: '',
      settings,
    });
    await mailbox.send(id, { from: 'lead', to: definition, type: 'task', content: CONTENT });
    const claim = jobs[0] && (await mailbox.claim(jobs[0], { token: 'token', host: 'bench', leaseMs: NEVER }));
    if (!claim) throw new Error(`nobody was activated in ${id}`);
    const agent = new HeldAgent(mailbox, claim.lease);
    await agent.drain();
    return agent;
  }

  /** A message of the lead for it. */
  async send(): Promise<void> {
    const { sessionId, agent } = this.lease;
    await this.mailbox.send(sessionId, { from: 'lead', to: agent, type: 'revision', content: CONTENT });
  }

  /** Moves its mail into its journal. */
  async drain(): Promise<void> {
    const inbox = await this.mailbox.readInbox(this.lease, this.known);
    this.known += inbox.entries.length;
    this.step = inbox.step;
    this.fence = inbox.fence;
  }

  /** Writes the answers of so many model calls, as one part, and idles. */
  async commit(answers = 1): Promise<void> {
    if (!this.fence) throw new Error('it has not drained');
    const tokens = { input: 500, output: 60 };
    const entries = Array.from({ length: answers }, () => ({
      kind: 'assistant' as const,
      step: this.step + 1,
      runId: '',
      openTasks: [],
      content: ANSWER,
      toolCalls: [],
      model: 'bench',
      usage: tokens,
    }));
    const events = [{ code: 'u' as const, data: { model: 'bench', ...tokens } }];
    const { agent } = this.lease;
    const step = this.step + 1;
    const usage = { agent, instance: agent, step, model: 'bench', status: 'ok' as const, attempts: 1, ...tokens };
    await this.mailbox.commit(this.fence, { step, entries, events, sends: [], usage, park: 'yes' });
    this.fence = { ...this.fence, n: this.fence.n + 1 };
  }

  /** Writes so many events of streamed text. */
  async emit(number: number, events: number): Promise<void> {
    if (!this.fence) throw new Error('it has not drained');
    const piece = { code: 't' as const, data: { text: ANSWER.slice(0, 24), step: 1, attempt: 1 } };
    await this.mailbox.emit(
      this.fence,
      number,
      Array.from({ length: events }, () => piece),
    );
  }

  /** Lets it go: the next message loads it wherever there is a worker. */
  async release(): Promise<void> {
    await this.mailbox.release(this.lease, 'released');
  }
}
