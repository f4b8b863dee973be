import type { ChatRequest } from './chat-request';
import { readColleagueCall, readColleagueResult } from './colleague-call';
import { type Item, timelineItem } from './item';
import { readMails } from './mail';
import { withoutNotice } from './scripted-notice';

const BLOCK = /<inbox>([\s\S]*?)<\/inbox>|<engine>([\s\S]*?)<\/engine>|<facts>[\s\S]*?<\/facts>/g;
const FACTS = /<facts>([\s\S]*?)<\/facts>/g;
const QUEUED = /queued for .+ as (msg_[0-9a-f]{12})/;

/**
 * Everything that a request tells, in order: mail, sends, tool calls with their results, texts, engine sentences. The
 * call of a colleague is also a task that was sent to it, and its report the result that came.
 */
export function readTimeline(messages: ChatRequest['messages'], callees: ReadonlyMap<string, string>): Item[] {
  const items: Item[] = [];
  const calls = new Map<string, Item>();
  const asked = new Map<string, Item>();
  messages.forEach((message, at) => {
    if (message.role === 'user') items.push(...readUser(message.content, at));
    if (message.role === 'assistant') {
      const called = message.tool_calls ?? [];
      if (message.content.trim()) items.push(said(message.content, at, called.length === 0));
      for (const call of called) {
        const item = readCall(call.function, at);
        calls.set(call.id, item);
        items.push(item);
        const sent = readColleagueCall(call, parseArguments(call.function.arguments), { at, items, callees });
        if (!sent) continue;
        asked.set(call.id, sent);
        items.push(sent);
      }
    }
    if (message.role === 'tool') {
      settleCall(calls.get(message.tool_call_id ?? ''), message.content);
      const sent = asked.get(message.tool_call_id ?? '');
      if (sent) items.push(readColleagueResult(message.content, sent, at));
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
    items.push(...readMails(inbox, at));
    if (sentence !== undefined)
      items.push(timelineItem({ kind: 'engine', at, name: 'engine', content: sentence.trim() }));
  }
  const rest = text.replace(BLOCK, '').trim();
  // A plain chat, without Mailroom in between, has its request as bare text.
  if (rest && items.length === 0)
    items.push(timelineItem({ kind: 'got', at, name: 'task', from: 'user', content: rest }));
  return items;
}

function said(content: string, at: number, final: boolean): Item {
  return timelineItem({ kind: 'said', at, name: final ? 'final' : 'interim', content: withoutNotice(content) });
}

function readCall(call: { name: string; arguments: string }, at: number): Item {
  if (call.name !== 'send_message') return timelineItem({ kind: 'used', at, name: call.name });
  const args = parseArguments(call.arguments);
  const field = (key: string) => (typeof args[key] === 'string' ? args[key] : '');
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
