import type { ChatRequest } from './chat-request';

const ADDRESS = /^Your address in this session: (.+)$/gm;
const CALLEE = /^- (.+): tool ([\w-]+)$/gm;
const CALLED = /^You were called by "/m;

/** What the engine's part of a system prompt tells of the asking agent. */
export interface Seat {
  /** Empty: the request is not one of an agent session. */
  address: string;
  /** It was called as a tool, works alone, and is asked for a report in the end. */
  called: boolean;
  /** Colleagues that it may call as tools: tool by name. */
  callees: ReadonlyMap<string, string>;
}

/** Reads the engine's part, which comes after the agent's own; that may say anything. */
export function readSeat({ messages, tools }: Pick<ChatRequest, 'messages' | 'tools'>): Seat {
  const system = messages.find(({ role }) => role === 'system' || role === 'developer')?.content ?? '';
  const found = [...system.matchAll(ADDRESS)].at(-1);
  const engine = system.slice(found?.index ?? system.length);
  const offered = tools.map((tool) => tool.function.name);
  const callees = [...engine.matchAll(CALLEE)].flatMap(([, name = '', tool = '']): [string, string][] =>
    offered.includes(tool) ? [[name, tool]] : [],
  );
  return { address: found?.[1]?.trim() ?? '', called: CALLED.test(engine), callees: new Map(callees) };
}

/** Whether an address is one of these, or an instance of one: `alice` names `alice`, `alice#2` and `bob#1/alice#2`. */
export function isNamed(address: string, wanted: readonly string[] | undefined): boolean {
  if (wanted === undefined) return true;
  const member = address.replace(/^.*\//, '').replace(/#\d+$/, '');
  return wanted.includes(address) || wanted.includes(member);
}
