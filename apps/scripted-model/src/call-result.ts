import { type Item, timelineItem } from './item';
import { readMails } from './mail';
import { withoutNotice } from './scripted-notice';

/**
 * What came back from a colleague that was called as a tool: its report, why there is none, or its question. All of it
 * is linked to the task that the call stands for.
 */
export function readCallResult(text: string, call: Item, at: number): Item {
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
