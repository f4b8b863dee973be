import { type Item, timelineItem } from './item';
import { readMails } from './mail';
import { withoutNotice } from './scripted-notice';

interface Past {
  /** Index of the chat message that holds the call. */
  at: number;
  items: readonly Item[];
  /** Tool by name of the colleague. */
  callees: ReadonlyMap<string, string>;
}

/**
 * The call of a colleague as a tool, read as the task that it sends; a call of `answer_question` as the answer that it
 * sends to the one who asked. Undefined for other tools.
 */
export function readColleagueCall(
  { id, function: { name } }: { id: string; function: { name: string } },
  args: Record<string, unknown>,
  { at, items, callees }: Past,
): Item | undefined {
  const field = (key: string) => (typeof args[key] === 'string' ? args[key] : '');
  const callee = [...callees].find(([, tool]) => tool === name)?.[0];
  const sent = { kind: 'sent' as const, at, msgId: id };
  if (callee !== undefined)
    return timelineItem({ ...sent, name: 'task', to: callee, content: field('task'), context: field('context') });
  if (name !== 'answer_question') return undefined;
  const question = items.find((item) => item.kind === 'got' && item.msgId === field('question'));
  return timelineItem({
    ...sent,
    name: 'clarify_resp',
    // What comes back is the report on the task that the question was about.
    msgId: question?.inReplyTo || id,
    to: question?.from ?? '',
    content: field('answer'),
    inReplyTo: field('question'),
  });
}

/**
 * What came back from a colleague that was called as a tool: its report, why there is none, or its question. All of it
 * is in reply to the task that the call stands for.
 */
export function readColleagueResult(text: string, call: Item, at: number): Item {
  const [question] = readMails(text, at);
  if (question) return { ...question, inReplyTo: call.msgId };
  const result = { kind: 'got' as const, at, name: 'result', from: call.to, inReplyTo: call.msgId };
  const { subagent, output, status = 'ok', errorType, error } = parse(text);
  if (output !== undefined)
    return timelineItem({ ...result, from: subagent ?? call.to, status, content: withoutNotice(output) });
  if (errorType !== undefined) return timelineItem({ ...result, status: errorType, content: error ?? '' });
  return timelineItem({ ...result, status: 'ok', content: text });
}

function parse(text: string): Record<string, string | undefined> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, string>) : {};
  } catch {
    return {};
  }
}
