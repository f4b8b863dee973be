import type { ChatRequest } from './chat-request';
import { withoutNotice } from './scripted-notice';

/** One thing that happened to the agent that asks. Absent fields are empty strings, so that templates can use them. */
export interface Item {
  kind: 'got' | 'sent' | 'used' | 'said' | 'engine';
  /** Index of the chat message that holds it. */
  at: number;
  /** The message type of `got` and `sent`; the tool of `used`; `final` or `interim` of `said`. */
  name: string;
  /** The body of a message, the result of a tool, the text that was said. */
  content: string;
  context: string;
  from: string;
  to: string;
  /** Empty on a `sent` that was refused. */
  msgId: string;
  inReplyTo: string;
  status: string;
  late: boolean;
  /** What the tool `send_message` answered. */
  outcome: string;
}

type Known = Pick<Item, 'kind' | 'at' | 'name'> & Partial<Item>;

/** An item with the fields that are known; the others are empty. */
export function timelineItem(known: Known): Item {
  const empty = { content: '', context: '', from: '', to: '', msgId: '', inReplyTo: '', status: '', outcome: '' };
  return { ...empty, late: false, ...known };
}

const BLOCK = /<inbox>([\s\S]*?)<\/inbox>|<engine>([\s\S]*?)<\/engine>|<facts>[\s\S]*?<\/facts>/g;
const MESSAGE = /<message ([^>]*)>([\s\S]*?)<\/message>/g;
const ATTRIBUTE = /(\w+)="([^"]*)"/g;
const CONTEXT = /\n?<context>\n?([\s\S]*?)\n?<\/context>\s*$/;
const FACTS = /<facts>([\s\S]*?)<\/facts>/g;
const QUEUED = /queued for .+ as (msg_[0-9a-f]{12})/;

/**
 * Everything that a request tells, in order: mail, sends, tool calls with their results, texts, engine sentences. A message
 * in the result of a call, as the question of a called colleague, is mail as well.
 */
export function readTimeline(messages: ChatRequest['messages']): Item[] {
  const items: Item[] = [];
  const calls = new Map<string, Item>();
  messages.forEach((message, at) => {
    if (message.role === 'user') items.push(...readUser(message.content, at));
    if (message.role === 'assistant') {
      const called = message.tool_calls ?? [];
      if (message.content.trim()) items.push(said(message.content, at, called.length === 0));
      for (const call of called) {
        const item = readCall(call.function, at);
        calls.set(call.id, item);
        items.push(item);
      }
    }
    if (message.role === 'tool') {
      settleCall(calls.get(message.tool_call_id ?? ''), message.content);
      items.push(...readMessages(message.content, at));
    }
  });
  return items;
}

/** The text of the facts table that ends a lead's request; undefined when there is none. */
export function readFacts(messages: ChatRequest['messages']): string | undefined {
  const last = messages.findLast((message) => message.role === 'user');
  return [...(last?.content ?? '').matchAll(FACTS)].at(-1)?.[1]?.trim();
}

function readUser(text: string, at: number): Item[] {
  const items: Item[] = [];
  for (const [, inbox = '', sentence] of text.matchAll(BLOCK)) {
    items.push(...readMessages(inbox, at));
    if (sentence !== undefined)
      items.push(timelineItem({ kind: 'engine', at, name: 'engine', content: sentence.trim() }));
  }
  const rest = text.replace(BLOCK, '').trim();
  // A plain chat, without Mailroom in between, has its request as bare text.
  if (rest && items.length === 0)
    items.push(timelineItem({ kind: 'got', at, name: 'task', from: 'user', content: rest }));
  return items;
}

function readMessages(text: string, at: number): Item[] {
  return [...text.matchAll(MESSAGE)].map(([, attributes = '', body = '']) => readMail(attributes, body, at));
}

function readMail(attributes: string, body: string, at: number): Item {
  const known = Object.fromEntries([...attributes.matchAll(ATTRIBUTE)].map(([, key, value]) => [key, value]));
  return timelineItem({
    kind: 'got',
    at,
    name: known.type ?? '',
    from: known.from ?? '',
    msgId: known.msgId ?? '',
    inReplyTo: known.inReplyTo ?? '',
    status: known.status ?? '',
    late: known.late === 'true',
    content: withoutNotice(body.replace(CONTEXT, '')),
    context: withoutNotice(CONTEXT.exec(body)?.[1] ?? ''),
  });
}

function said(content: string, at: number, final: boolean): Item {
  return timelineItem({ kind: 'said', at, name: final ? 'final' : 'interim', content: withoutNotice(content) });
}

function readCall(call: { name: string; arguments: string }, at: number): Item {
  const args = parseArguments(call.arguments);
  const field = (key: string) => (typeof args[key] === 'string' ? args[key] : '');
  if (call.name !== 'send_message')
    return timelineItem({ kind: 'used', at, name: call.name, inReplyTo: field('question') });
  return timelineItem({
    kind: 'sent',
    at,
    name: field('type'),
    to: field('to'),
    content: withoutNotice(field('content')),
    context: field('context'),
    inReplyTo: field('inReplyTo'),
  });
}

function settleCall(item: Item | undefined, result: string): void {
  if (!item) return;
  if (item.kind === 'used') item.content = result;
  else Object.assign(item, { outcome: result, msgId: QUEUED.exec(result)?.[1] ?? '' });
}

function parseArguments(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
