import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type SessionRecord, sessionRecords } from './session-record';
import type { DumpedKey } from './store-dump';

/** One line of a history. Which fields there are depends on `op`. */
export interface Happening {
  t: number;
  proc: string;
  op: string;
  phase?: 'invoke' | 'ok' | 'fail';
  n?: number;
  sessionId?: string;
  agent?: string;
  epoch?: number;
  token?: string;
  [fact: string]: unknown;
}

/** One execution of an effect tool. */
interface Effect {
  tool: string;
  sessionId: string;
  agent: string;
  key: string;
}

/** One message of it. */
export interface PromptMessage {
  role: string;
  content: string;
  tool_calls?: { id: string; function: { name: string } }[];
  tool_call_id?: string;
}

/** One request to the model. */
interface Prompt {
  t: number;
  messages: PromptMessage[];
}

/** All that the checks may look at. */
export interface Evidence {
  /** The sessions of the phase that Redis still has. */
  sessions: SessionRecord[];
  /** Ids of the sessions that clients opened. */
  opened: string[];
  /** What gateways and workers did in these sessions. */
  product: Happening[];
  /** What clients saw, and samples of processes. */
  clients: Happening[];
  effects: Effect[];
  prompts: Prompt[];
  /** All keys of Redis. */
  keys: DumpedKey[];
  /** True when acknowledged writes were taken from Redis in this phase. */
  truncated: boolean;
  /** True when the phase means some runs to end otherwise than completed. */
  lenient: boolean;
  /** True when no process ended and Redis stayed. */
  isOrderly: boolean;
}

/** What a phase says of itself. */
type Mood = Partial<Pick<Evidence, 'truncated' | 'lenient' | 'isOrderly'>>;

const OTHERS = ['clients.jsonl', 'effects.jsonl', 'model.jsonl'];

/** Reads the histories of a folder, phase by phase: each line once. */
export class EvidenceReader {
  private readonly offsets = new Map<string, number>();

  constructor(private readonly dir: string) {}

  /** What was written since the last call, and a dump. */
  read(dumpFile: string, { truncated = false, lenient = false, isOrderly = false }: Mood): Evidence {
    const clients = this.lines<Happening>('clients.jsonl');
    const opened = [...new Set(clients.flatMap(({ op, sessionId }) => (op === 'accepted' && sessionId) || []))];
    const isOurs = ({ sessionId }: { sessionId?: string }) => sessionId !== undefined && opened.includes(sessionId);
    const files = readdirSync(this.dir).filter((name) => name.endsWith('.jsonl') && !OTHERS.includes(name));
    const product = files
      .flatMap((name) => this.lines<Happening>(name))
      .filter(isOurs)
      .sort((a, b) => a.t - b.t);
    const keys = readFileSync(dumpFile, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map(parse<DumpedKey>);
    const records = sessionRecords(keys);
    return {
      sessions: opened.flatMap((id) => records.get(id) ?? []),
      opened,
      product,
      clients,
      effects: this.lines<Effect>('effects.jsonl').filter(isOurs),
      prompts: this.lines<{ t: number; body: { messages: PromptMessage[] } }>('model.jsonl').map(({ t, body }) => ({
        t,
        messages: body.messages,
      })),
      keys,
      truncated,
      lenient,
      isOrderly,
    };
  }

  private lines<T>(name: string): T[] {
    const path = join(this.dir, name);
    if (!existsSync(path)) return [];
    const from = this.offsets.get(name) ?? 0;
    const bytes = Buffer.alloc(statSync(path).size - from);
    const file = openSync(path, 'r');
    readSync(file, bytes, 0, bytes.length, from);
    closeSync(file);
    // A line that is being written is read the next time.
    const whole = bytes.subarray(0, bytes.lastIndexOf(10) + 1);
    this.offsets.set(name, from + whole.length);
    return whole
      .toString('utf8')
      .split('\n')
      .filter(Boolean)
      .map(parse<T>);
  }
}

function parse<T>(line: string): T {
  return JSON.parse(line) as T;
}
