import { randomBytes } from 'node:crypto';
import { type ActivationJob, AppError, type ExitReason, LIMITS, type SendCode } from '@mailroom/contracts';
import type { Redis } from 'ioredis';
import { toMicro } from './call-sums';
import { commitArgs } from './commit-plan';
import type { DueKind } from './due-entry';
import { parseInbox } from './inbox';
import { MailboxKeys } from './keys';
import type { Claim, CommitReceipt, Fence, HeldLease, Inbox, Instance, Lease, StepEvent, StepPart } from './lease';
import type { ClaimTerms, LeaseState, Letter, Mailbox, NewSession, SendReceipt, SessionSettings } from './mailbox';
import type { RedisMailboxOptions } from './mailbox-options';
import { newMessageId, runIdOf } from './message-id';
import { fenceError, refusal } from './refusals';
import { MailboxScripts, type ScriptName } from './scripts';
import { storedBody } from './stored-body';

/** Defaults of what is stored with a session. */
const SETTINGS: SessionSettings = {
  mailboxSize: LIMITS.mailboxSize,
  callLimit: LIMITS.sessionCalls,
  maxEvents: LIMITS.eventStreamLength,
  windowMs: LIMITS.wakeWindowMs,
  waitBudgetMs: LIMITS.waitBudgetMs,
  clarifyMs: LIMITS.clarifyMs,
  jobMs: 2_000,
  strikes: LIMITS.strikes,
  rounds: LIMITS.handoffRounds,
  budgeted: 0,
  wakeOn: 'each',
};

/** The letters of `renew-leases.lua`. */
const LEASE_STATES: Record<string, LeaseState> = { q: 'quiet', w: 'work', c: 'cancelled', l: 'lost' };

interface Reply {
  code: string;
  activate?: [string, number][];
  alarms?: [agent: string, kind: DueKind, ms: number][];
}

/** Head (JSON), journal entries, messages: what `look.lua` replies. */
type SeenInbox = [head: string, entries: string[], messages: string[]];
type WithInbox = [reply: string, ...SeenInbox] | [reply: string];

/** The mailbox on Redis: one Lua script per method. */
export class RedisMailbox implements Mailbox {
  private readonly keys: MailboxKeys;
  private readonly scripts: MailboxScripts;

  constructor(
    redis: Redis,
    private readonly options: RedisMailboxOptions,
  ) {
    this.keys = new MailboxKeys(options.prefix);
    this.scripts = new MailboxScripts(redis);
  }

  async openSession(session: NewSession): Promise<'open' | 'closed'> {
    const reply = await this.run<Reply & { fingerprint: string; status: 'open' | 'closed' }>(
      'open-session',
      session.id,
      [
        session.space,
        session.leadAgentId,
        JSON.stringify(session.roster),
        JSON.stringify(session.metadata),
        session.fingerprint,
        JSON.stringify(settingsOf(session)),
      ],
    );
    if (reply.fingerprint !== session.fingerprint)
      throw new AppError(
        'idempotency_conflict',
        'this Idempotency-Key was used for another request: choose another key',
      );
    return reply.status;
  }

  async send(sessionId: string, letter: Letter): Promise<SendReceipt> {
    const msgId = letter.msgId ?? newMessageId();
    const reply = await this.run<Reply & { seq: number; runId?: string; detail?: string[] }>('send', sessionId, [
      msgId,
      letter.from,
      letter.to,
      letter.type,
      letter.inReplyTo ?? '',
      storedBody(letter),
      letter.from === 'user' ? runIdOf(msgId) : '',
      letter.onBusy ?? 'steer',
    ]);
    if (reply.code !== 'ok') throw refusal(reply.code as SendCode, reply.detail);
    return { msgId, seq: reply.seq, runId: reply.runId ?? '' };
  }

  async claim(job: ActivationJob, { token, host, leaseMs, look }: ClaimTerms): Promise<Claim | undefined> {
    const { sessionId, agent, epoch } = job;
    const args = [agent, epoch, token, host, leaseMs, look ? LIMITS.drainBytes : ''];
    const [json, ...seen] = (await this.scripts.run('claim', this.sessionKeys(sessionId), args)) as WithInbox;
    const reply = this.parse<
      Reply & { space: string; leadAgent: string; roster: string; budgeted?: string; instance?: string }
    >(sessionId, json);
    if (reply.code !== 'ok') return undefined;
    const lease = { sessionId, agent, epoch, token };
    return {
      lease,
      space: reply.space,
      leadAgentId: reply.leadAgent,
      roster: JSON.parse(reply.roster) as Claim['roster'],
      budgeted: reply.budgeted === '1',
      ...(reply.instance && { instance: JSON.parse(reply.instance) as Instance }),
      ...this.inboxIn(lease, seen),
    };
  }

  async readInbox(lease: Lease, known: number, commits = 0): Promise<Inbox> {
    const args = [...leaseArgs(lease), known, LIMITS.drainBytes, requestId(), commits];
    const [head, entries, messages] = (await this.scripts.run(
      'drain',
      this.sessionKeys(lease.sessionId),
      args,
    )) as SeenInbox;
    const reply = this.parse<Reply>(lease.sessionId, head);
    if (reply.code !== 'ok') throw fenceError(reply.code, lease.agent);
    return parseInbox(lease, reply, entries, messages);
  }

  async commit(fence: Fence, part: StepPart): Promise<CommitReceipt> {
    const args = [...fenceArgs(fence), fence.n, ...commitArgs(part, requestId())];
    const [json, ...seen] = (await this.scripts.run('commit', this.sessionKeys(fence.sessionId), args)) as WithInbox;
    const reply = this.parse<Reply & Omit<CommitReceipt, 'inbox'>>(fence.sessionId, json);
    if (reply.code !== 'ok') throw fenceError(reply.code, fence.agent);
    const { work, left, settled = false, held } = reply;
    return { work, settled, ...(held && { held }), ...(left && { left }), ...this.inboxIn(fence, seen) };
  }

  async emit(fence: Fence, number: number, events: readonly StepEvent[]): Promise<void> {
    const pairs = events.flatMap((event) => [event.code, JSON.stringify(event.data)]);
    const reply = await this.run<Reply>('emit', fence.sessionId, [...fenceArgs(fence), number, ...pairs]);
    if (reply.code !== 'ok') throw fenceError(reply.code, fence.agent);
  }

  async exit(lease: Lease, reason: ExitReason): Promise<boolean> {
    const reply = await this.run<Reply>('exit', lease.sessionId, [...leaseArgs(lease), reason]);
    if (reply.code !== 'ok' && reply.code !== 'work') throw fenceError(reply.code, lease.agent);
    return reply.code === 'ok';
  }

  async release(lease: Lease, reason: 'released' | 'evicted' | 'error', isCallUnused = false): Promise<void> {
    const args = [...leaseArgs(lease), reason, isCallUnused ? '1' : ''];
    const reply = await this.run<Reply>('release', lease.sessionId, args);
    if (reply.code !== 'ok') throw fenceError(reply.code, lease.agent);
  }

  async renewLeases(leases: readonly HeldLease[], leaseMs: number): Promise<LeaseState[]> {
    const slots = new Map<string, Map<string, HeldLease[]>>();
    for (const lease of leases) {
      const slot = entry(slots, this.keys.slot(lease.sessionId), () => new Map<string, HeldLease[]>());
      entry(slot, lease.sessionId, () => []).push(lease);
    }
    const states = new Map<HeldLease, LeaseState>();
    await Promise.all(
      [...slots].map(async ([slot, sessions]) => {
        const held = [...sessions].flatMap(([id, group]) => [
          id,
          group.length,
          ...group.flatMap(({ agent, token, agentCancel }) => [agent, token, agentCancel]),
        ]);
        const args = [this.keys.prefix, slot, leaseMs, ...held];
        const letters = (await this.scripts.run('renew-leases', [this.keys.due(slot)], args)) as string;
        const renewed = [...sessions.values()].flat();
        for (const [i, lease] of renewed.entries()) states.set(lease, LEASE_STATES[letters[i] ?? ''] ?? 'lost');
      }),
    );
    return leases.map((lease) => states.get(lease) ?? 'lost');
  }

  async cancelRun(sessionId: string, reason: string): Promise<string | undefined> {
    const reply = await this.run<Reply & { runId?: string }>('cancel', sessionId, ['', reason, requestId()]);
    if (reply.code === 'session_closed') throw refusal('session_closed');
    return reply.code === 'ok' ? reply.runId : undefined;
  }

  async cancelAgent(sessionId: string, agent: string, reason: string): Promise<void> {
    const reply = await this.run<Reply>('cancel', sessionId, [agent, reason, requestId()]);
    if (reply.code === 'session_closed' || reply.code === 'unknown_recipient') throw refusal(reply.code);
  }

  async closeSession(sessionId: string): Promise<boolean> {
    const reply = await this.run<Reply>('close-session', sessionId, [LIMITS.keepMs, requestId(), LIMITS.usageKeepMs]);
    return reply.code === 'ok';
  }

  /** The look into the mailbox that a script made on top of its own work. */
  private inboxIn({ sessionId, agent, epoch, token }: Lease, seen: SeenInbox | []): { inbox?: Inbox } {
    const [head, entries, messages] = seen;
    if (head === undefined) return {};
    const lease = { sessionId, agent, epoch, token };
    return { inbox: parseInbox(lease, JSON.parse(head) as object, entries ?? [], messages ?? []) };
  }

  private sessionKeys(sessionId: string): [string, string] {
    return [this.keys.of('session', sessionId), this.keys.due(this.keys.slot(sessionId))];
  }

  private async run<T extends Reply>(name: ScriptName, sessionId: string, args: (string | number)[]): Promise<T> {
    return this.parse<T>(sessionId, (await this.scripts.run(name, this.sessionKeys(sessionId), args)) as string);
  }

  private parse<T extends Reply>(sessionId: string, json: string): T {
    const reply = JSON.parse(json) as T;
    for (const [agent, epoch] of reply.activate ?? []) this.options.activate({ sessionId, agent, epoch });
    for (const [agent, kind, ms] of reply.alarms ?? []) this.options.alarm?.({ sessionId, agent, kind }, ms);
    return reply;
  }
}

const PROCESS = randomBytes(6).toString('hex');
let requests = 0;

/** Tells a command that is sent again, because its reply was lost, from a new one. */
function requestId(): string {
  requests += 1;
  return `${PROCESS}.${requests}`;
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}

/** Costs are stored as what they are counted in. */
function settingsOf({ settings }: NewSession): SessionSettings {
  const { costLimit, runCostLimit } = settings;
  return {
    ...SETTINGS,
    ...settings,
    ...(costLimit !== undefined && { costLimit: toMicro(costLimit) }),
    ...(runCostLimit !== undefined && { runCostLimit: toMicro(runCostLimit) }),
  };
}

function leaseArgs(lease: Lease): (string | number)[] {
  return [lease.agent, lease.epoch, lease.token];
}

function fenceArgs(fence: Fence): (string | number)[] {
  return [...leaseArgs(fence), fence.sessionCancel, fence.agentCancel];
}
