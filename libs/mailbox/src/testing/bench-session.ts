import { randomBytes } from 'node:crypto';
import type { ActivationJob, AgentMessage, EventCode, JournalEntry, RosterMember } from '@mailroom/contracts';
import { LEAD } from '@mailroom/contracts';
import type { Redis } from 'ioredis';
import { connect } from '../connection';
import type { DueKind } from '../due-entry';
import { DueIndex, type JobState } from '../due-index';
import { MailboxKeys } from '../keys';
import type { Letter, SendReceipt, SessionSettings } from '../mailbox';
import { RedisMailbox } from '../redis-mailbox';
import { dumpKeys, type KeyDump } from './key-dump';
import { LoadedAgent } from './loaded-agent';

export interface BenchOptions {
  redis: { url: string; prefix: string };
  roster?: readonly string[];
  settings?: Partial<SessionSettings>;
}

const LEASE_MS = 60_000;
const TIMES = { againMs: 1_000, unclaimedMs: 15_000 };

/** One session on real Redis, driven by hand: no host, no model. Activations are only noted. */
export class BenchSession {
  readonly id = `ses_${randomBytes(8).toString('hex')}`;
  /** Every activation that a script named, in order. */
  readonly activations: ActivationJob[] = [];
  readonly mailbox: RedisMailbox;
  readonly due: DueIndex;
  readonly keys: MailboxKeys;

  private constructor(
    readonly redis: Redis,
    readonly prefix: string,
  ) {
    const activate = (job: ActivationJob) => this.activations.push(job);
    this.mailbox = new RedisMailbox(redis, { prefix, activate });
    this.due = new DueIndex(redis, { prefix, activate });
    this.keys = new MailboxKeys(prefix);
  }

  static async open({ redis, roster = ['alice', 'bob'], settings }: BenchOptions): Promise<BenchSession> {
    const connection = connect({ url: redis.url, name: 'bench', mood: 'patient' });
    const session = new BenchSession(connection, redis.prefix);
    await session.mailbox.openSession({
      id: session.id,
      space: 'default',
      leadAgentId: 'boss',
      roster: roster.map((as): RosterMember => ({ as, agent: as })),
      metadata: {},
      fingerprint: 'bench',
      settings: { windowMs: 0, ...settings },
    });
    return session;
  }

  /** Removes the session's keys and the connection. */
  async close(): Promise<void> {
    const keys = Object.keys(await this.dump());
    if (keys.length > 0) await this.redis.unlink(...keys);
    this.redis.disconnect();
  }

  send(from: string, to: string, type: string, more: Partial<Letter> = {}): Promise<SendReceipt> {
    return this.mailbox.send(this.id, { from, to, type, content: `${type} of ${from}`, ...more });
  }

  /** A user's message to the lead. */
  ask(more: Partial<Letter> = {}): Promise<SendReceipt> {
    return this.send('user', LEAD, 'task', more);
  }

  /** Claims the scheduled activation of an agent. */
  async load(agent: string, token = randomBytes(4).toString('hex')): Promise<LoadedAgent> {
    const { st, epoch } = await this.agent(agent);
    const job = { sessionId: this.id, agent, epoch: Number(epoch) };
    const claim = await this.mailbox.claim(job, { token, host: 'host', leaseMs: LEASE_MS });
    if (!claim) throw new Error(`${agent} cannot be claimed, it is ${st}`);
    return new LoadedAgent(this, claim.lease);
  }

  /** Claims an agent and lets it read its mail. */
  async wake(agent: string): Promise<LoadedAgent> {
    const loaded = await this.load(agent);
    await loaded.read();
    return loaded;
  }

  /** A run with the lead at its first step. */
  async startRun(): Promise<LoadedAgent> {
    await this.ask();
    return this.wake(LEAD);
  }

  agent(name: string): Promise<Record<string, string>> {
    return this.redis.hgetall(this.keys.of('agent', this.id, name));
  }

  session(): Promise<Record<string, string>> {
    return this.redis.hgetall(this.keys.of('session', this.id));
  }

  run(runId: string): Promise<Record<string, string>> {
    return this.redis.hgetall(this.keys.of('run', this.id, runId));
  }

  /** Entries of a mailbox: the flag and the id. */
  mail(name: string): Promise<string[]> {
    return this.redis.lrange(this.keys.of('mailbox', this.id, name), 0, -1);
  }

  deadLetters(): Promise<string[]> {
    return this.redis.lrange(this.keys.of('dead', this.id), 0, -1);
  }

  async journal(name: string): Promise<JournalEntry[]> {
    const entries = await this.redis.lrange(this.keys.of('memory', this.id, name), 0, -1);
    return entries.map((entry) => JSON.parse(entry) as JournalEntry);
  }

  /** Ids of the messages in an agent's journal, in order. */
  async read(name: string): Promise<string[]> {
    return (await this.journal(name)).flatMap((entry) => ('ids' in entry ? entry.ids : []));
  }

  /** All accepted messages, in order; `ts` as stored. */
  async messages(): Promise<AgentMessage[]> {
    const ids = await this.redis.lrange(this.keys.of('messages', this.id), 0, -1);
    const stored = ids.length > 0 ? await this.redis.hmget(this.keys.of('ledger', this.id), ...ids) : [];
    return stored.map((text) => JSON.parse((text ?? '').slice((text ?? '').indexOf('\n') + 1)) as AgentMessage);
  }

  async events(code?: EventCode): Promise<{ code: string; agent: string; data: Record<string, unknown> }[]> {
    const entries = await this.redis.xrange(this.keys.of('events', this.id), '-', '+');
    return entries
      .map(([, flat]) => ({ code: flat[1] ?? '', agent: flat[3] ?? '', data: JSON.parse(flat[7] ?? '{}') as never }))
      .filter((event) => code === undefined || event.code === code);
  }

  records(kind: 'tasks' | 'questions' | 'closed' | 'handoffs' | 'instances'): Promise<Record<string, string>> {
    return this.redis.hgetall(this.keys.of(kind, this.id));
  }

  /** Addresses of the instances that handoffs called into being and that have not left for good. */
  async live(): Promise<string[]> {
    const { live } = await this.session();
    return live ? (JSON.parse(live) as string[]) : [];
  }

  /** Kinds of the due entries of an agent. */
  async dueKinds(agent: string): Promise<string[]> {
    const members = await this.redis.zrange(this.dueKey, '0', '-1');
    return members.filter((member) => member.startsWith(`${this.id}|${agent}|`)).map((m) => m.split('|')[2] ?? '');
  }

  async dueAt(agent: string, kind: DueKind): Promise<number | undefined> {
    const score = await this.redis.zscore(this.dueKey, `${this.id}|${agent}|${kind}`);
    return score === null ? undefined : Number(score);
  }

  /** Makes one due entry due and sweeps it. */
  async fire(agent: string, kind: DueKind, job?: { epoch: number; state: JobState }): Promise<void> {
    await this.redis.zadd(this.dueKey, 'XX', 0, `${this.id}|${agent}|${kind}`);
    await this.due.sweep({ sessionId: this.id, agent, kind }, TIMES, job);
  }

  /** Moves a stored time of a record into the past. */
  async age(kind: 'tasks' | 'questions', id: string): Promise<void> {
    const key = this.keys.of(kind, this.id);
    const record = JSON.parse((await this.redis.hget(key, id)) ?? '{}') as Record<string, unknown>;
    await this.redis.hset(key, id, JSON.stringify({ ...record, at: 0 }));
  }

  setSession(field: string, value: string | number): Promise<unknown> {
    return this.redis.hset(this.keys.of('session', this.id), field, value);
  }

  dump(): Promise<KeyDump> {
    return dumpKeys(this.redis, this.prefix);
  }

  get dueKey(): string {
    return this.keys.due(this.keys.slot(this.id));
  }
}
