import type { AgentMessage, JournalEntry, UsageRow } from '@mailroom/contracts';
import type { DumpedKey } from './store-dump';

/** One agent of a session as Redis has it at the end. */
export interface AgentRecord {
  name: string;
  fields: Record<string, string>;
  /** msgIds that were never read. */
  mailbox: string[];
  journal: JournalEntry[];
}

/** One event of the session's stream. */
interface EventRecord {
  id: string;
  code: string;
  agent: string;
  run: string;
  data: Record<string, unknown>;
}

/** One session as Redis has it at the end. */
export interface SessionRecord {
  id: string;
  fields: Record<string, string>;
  agents: AgentRecord[];
  /** All messages by id. */
  ledger: Map<string, AgentMessage>;
  dead: string[];
  openTasks: string[];
  /** By task: `agent` or `engine`, who closed it. */
  closed: Map<string, string>;
  runs: Map<string, Record<string, string>>;
  events: EventRecord[];
  /** Rows of model calls. */
  account: Pick<UsageRow, 'instance' | 'step' | 'status'>[];
  keys: DumpedKey[];
}

/** `<prefix>:<kind>:{sNN}:<session>[:<name>]` */
const SESSION_KEY = /^[^:]+:([a-z:]+):\{s\d\d\}:(ses_[0-9a-f]+)(?::(.+))?$/;

/** Sorts the keys of a dump by session; what belongs to none is left out. */
export function sessionRecords(keys: readonly DumpedKey[]): Map<string, SessionRecord> {
  const records = new Map<string, SessionRecord>();
  for (const dumped of keys) {
    const [, kind, id, name] = SESSION_KEY.exec(dumped.key) ?? [];
    if (!kind || !id) continue;
    const record = records.get(id) ?? emptyRecord(id);
    records.set(id, record);
    record.keys.push(dumped);
    take(record, kind, name, dumped.value);
  }
  return records;
}

function emptyRecord(id: string): SessionRecord {
  return {
    id,
    fields: {},
    agents: [],
    ledger: new Map(),
    dead: [],
    openTasks: [],
    closed: new Map(),
    runs: new Map(),
    events: [],
    account: [],
    keys: [],
  };
}

function take(record: SessionRecord, kind: string, name: string | undefined, value: unknown): void {
  if (name !== undefined && kind !== 'run') takeAgent(agentOf(record, name), kind, value);
  else if (kind === 'run') record.runs.set(name ?? '', value as Record<string, string>);
  else if (kind === 'session') record.fields = value as Record<string, string>;
  else if (kind === 'dead') record.dead = value as string[];
  else if (kind === 'tasks') record.openTasks = Object.keys(value as object);
  else if (kind === 'closed')
    for (const [id, text] of Object.entries(value as Record<string, string>))
      record.closed.set(id, text.slice(0, text.indexOf('|')));
  else if (kind === 'ledger')
    for (const [id, text] of Object.entries(value as Record<string, string>))
      record.ledger.set(id, JSON.parse(text.slice(text.indexOf('\n') + 1)));
  else if (kind === 'usage') record.account = (value as string[]).map((row) => JSON.parse(row));
  else if (kind === 'events') record.events = (value as [string, string[]][]).map(eventOf);
}

function agentOf(record: SessionRecord, name: string): AgentRecord {
  const known = record.agents.find((agent) => agent.name === name);
  if (known) return known;
  const agent: AgentRecord = { name, fields: {}, mailbox: [], journal: [] };
  record.agents.push(agent);
  return agent;
}

function takeAgent(agent: AgentRecord, kind: string, value: unknown): void {
  if (kind === 'agent') agent.fields = value as Record<string, string>;
  if (kind === 'mailbox') agent.mailbox = (value as string[]).map((entry) => entry.slice(1));
  if (kind === 'memory') agent.journal = (value as string[]).map((entry) => JSON.parse(entry));
}

function eventOf([id, flat]: [string, string[]]): EventRecord {
  const fields: Record<string, string> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) fields[flat[i] ?? ''] = flat[i + 1] ?? '';
  const { c = '', a = '', r = '', d = '{}' } = fields;
  return { id, code: c, agent: a, run: r, data: JSON.parse(d) };
}
