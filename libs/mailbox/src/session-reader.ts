import type {
  AgentMessage,
  AgentState,
  JournalEntry,
  Run,
  RunStatus,
  SessionDetail,
  SessionSummary,
} from '@mailroom/contracts';
import { LEAD } from '@mailroom/contracts';
import type { Redis } from 'ioredis';
import { readSums } from './call-sums';
import { MailboxKeys } from './keys';
import type { Instance } from './lease';
import { isoTime, parseMessage, toQuestions, toTasks } from './records';

type Fields = Record<string, string>;

const SPENT = ['used', 'input', 'output', 'cached', 'reasoning', 'micro', 'unpriced'];

/** Reads what a session is, for people and programs; never changes it. Undefined: there is no such session. */
export class SessionReader {
  private readonly keys: MailboxKeys;

  constructor(
    private readonly redis: Redis,
    prefix: string,
  ) {
    this.keys = new MailboxKeys(prefix);
  }

  /** Notes a session in its space's lists: of what is there, and of what was spent. */
  async register(space: string, sessionId: string): Promise<void> {
    const lists = [this.keys.sessions(space), this.keys.accounts(space)];
    await Promise.all(lists.map((list) => this.redis.zadd(list, 'NX', Date.now(), sessionId)));
  }

  /** Sessions of a space, newest first, after the cursor that the last page gave. Expired ones are dropped from the list. */
  async list(space: string, offset: number, count: number): Promise<SessionSummary[]> {
    const key = this.keys.sessions(space);
    const ids = await this.redis.zrevrange(key, offset, offset + count - 1);
    const found = await Promise.all(ids.map((id) => this.summary(space, id)));
    const gone = ids.filter((_, i) => found[i] === undefined);
    if (gone.length > 0) await this.redis.zrem(key, ...gone);
    return found.filter((summary) => summary !== undefined);
  }

  async summary(space: string, sessionId: string): Promise<SessionSummary | undefined> {
    const session = await this.session(space, sessionId);
    return session && toSummary(sessionId, session);
  }

  async detail(space: string, sessionId: string): Promise<SessionDetail | undefined> {
    const session = await this.session(space, sessionId);
    if (!session) return undefined;
    const roster = JSON.parse(session.roster ?? '[]') as { as: string; agent: string }[];
    const instances = await this.redis.hgetall(this.keys.of('instances', sessionId));
    const members: { as: string; agent: string; caller?: string; depth?: number }[] = [
      { as: LEAD, agent: session.leadAgent ?? '' },
      ...roster.map(({ as, agent }) => ({ as, agent })),
      ...Object.entries(instances)
        .map(([as, json]) => ({ as, ...(JSON.parse(json) as Instance) }))
        .sort((a, b) => a.as.localeCompare(b.as, 'en', { numeric: true })),
    ];
    const [tasks, questions, runs, states, inboxes] = await Promise.all([
      this.redis.hgetall(this.keys.of('tasks', sessionId)),
      this.redis.hgetall(this.keys.of('questions', sessionId)),
      this.redis.lrange(this.keys.of('runs', sessionId), -1, -1),
      Promise.all(members.map(({ as }) => this.redis.hgetall(this.keys.of('agent', sessionId, as)))),
      Promise.all(members.map(({ as }) => this.redis.llen(this.keys.of('mailbox', sessionId, as)))),
    ]);
    const run = runs[0] === undefined ? undefined : await this.run(space, sessionId, runs[0]);
    return {
      ...toSummary(sessionId, session),
      ...(run && { run }),
      agents: members.map(({ as, agent, caller, depth }, i) => ({
        id: as,
        agent,
        ...(caller !== undefined && { caller, depth }),
        state: (states[i]?.st ?? 'unloaded') as AgentState,
        working: states[i]?.st === 'loaded' && !['idle', 'handoff'].includes(states[i]?.tail ?? 'idle'),
        step: Number(states[i]?.step ?? 0),
        inbox: inboxes[i] ?? 0,
        usage: readSums(states[i] ?? {}),
      })),
      usage: readSums(session),
      openTasks: toTasks(parseRecords(tasks)),
      openQuestions: toQuestions(parseRecords(questions)),
    };
  }

  async run(space: string, sessionId: string, runId: string): Promise<Run | undefined> {
    const [[owner, current, ...spent], fields] = await Promise.all([
      this.redis.hmget(
        this.keys.of('session', sessionId),
        'space',
        'run',
        ...SPENT,
        ...SPENT.map((field) => `${field}0`),
      ),
      this.redis.hgetall(this.keys.of('run', sessionId, runId)),
    ]);
    if (owner !== space || !fields.status) return undefined;
    // A run that is on has spent what its session has spent since; once it has settled its own record tells.
    if (current === runId && !fields.endedAt)
      for (const [i, field] of SPENT.entries())
        fields[field] = String(Number(spent[i] ?? 0) - Number(spent[i + SPENT.length] ?? 0));
    return {
      id: runId,
      status: fields.status as RunStatus,
      ...(fields.reason && { reason: fields.reason }),
      ...(fields.answer && { output: (JSON.parse(fields.answer) as { text: string }).text }),
      usage: readSums(fields),
      startedAt: isoTime(fields.startedAt ?? 0),
      ...(fields.endedAt && { endedAt: isoTime(fields.endedAt) }),
    };
  }

  /** Runs of the session in the order in which they began. */
  async runs(space: string, sessionId: string, offset: number, count: number): Promise<Run[]> {
    const ids = await this.redis.lrange(this.keys.of('runs', sessionId), offset, offset + count - 1);
    const runs = await Promise.all(ids.map((id) => this.run(space, sessionId, id)));
    return runs.filter((run) => run !== undefined);
  }

  /** All messages of the session in the order in which they were accepted. */
  async ledger(space: string, sessionId: string, offset: number, count: number): Promise<AgentMessage[] | undefined> {
    if (!(await this.session(space, sessionId))) return undefined;
    const ids = await this.redis.lrange(this.keys.of('messages', sessionId), offset, offset + count - 1);
    if (ids.length === 0) return [];
    const stored = await this.redis.hmget(this.keys.of('ledger', sessionId), ...ids);
    return stored.filter((text) => text !== null).map((text) => parseMessage(text.slice(text.indexOf('\n') + 1)));
  }

  /** Messages of the session by id; those that it does not have are left out. */
  async messages(space: string, sessionId: string, ids: readonly string[]): Promise<AgentMessage[]> {
    if (ids.length === 0 || !(await this.session(space, sessionId))) return [];
    const stored = await this.redis.hmget(this.keys.of('ledger', sessionId), ...ids);
    return stored.filter((text) => text !== null).map((text) => parseMessage(text.slice(text.indexOf('\n') + 1)));
  }

  /** The whole journal of an agent. */
  async journal(space: string, sessionId: string, agent: string): Promise<JournalEntry[] | undefined> {
    return (await this.session(space, sessionId)) && this.journalPart(sessionId, agent, 0, -1);
  }

  /** Entries of a journal by their index, both ends included; the session's space is not looked at. */
  async journalPart(sessionId: string, agent: string, from: number, to: number): Promise<JournalEntry[]> {
    const entries = await this.redis.lrange(this.keys.of('memory', sessionId, agent), from, to);
    return entries.map((entry) => JSON.parse(entry) as JournalEntry);
  }

  private async session(space: string, sessionId: string): Promise<Fields | undefined> {
    const fields = await this.redis.hgetall(this.keys.of('session', sessionId));
    return fields.space === space ? fields : undefined;
  }
}

function toSummary(id: string, session: Fields): SessionSummary {
  return {
    id,
    status: session.status === 'open' ? 'open' : 'closed',
    leadAgentId: session.leadAgent ?? '',
    createdAt: isoTime(session.createdAt ?? 0),
    metadata: JSON.parse(session.metadata ?? '{}') as Record<string, string>,
  };
}

function parseRecords<T>(records: Fields): Record<string, T> {
  return Object.fromEntries(Object.entries(records).map(([id, json]) => [id, JSON.parse(json) as T]));
}
