import { askerOf, type ModelRequestBody, type ScriptedAnswer } from './model-server';

type Line = ScriptedAnswer | ((request: ModelRequestBody) => ScriptedAnswer);

/** Answers by who asks and by how many answers the request's history already holds. */
export function story(lines: Record<string, Line[]>): (request: ModelRequestBody) => ScriptedAnswer {
  return (request) => {
    const asker = askerOf(request);
    const spoken = request.messages.filter(({ role }) => role === 'assistant').length;
    const line = lines[asker]?.[spoken] ?? { text: `${asker} has nothing more to say` };
    return typeof line === 'function' ? line(request) : line;
  };
}

export const wait = { name: 'wait_for_messages', args: {} };

export function send(to: string, type: string, content: string, inReplyTo?: string) {
  return { name: 'send_message', args: { to, type, content, ...(inReplyTo && { inReplyTo }) } };
}

/** All that a request says, as one text. */
export function textOf(request: ModelRequestBody): string {
  return request.messages.map((message) => message.content ?? '').join('\n');
}

/** The msgId of the last message in the request's inbox blocks with these labels. */
export function mailId(request: ModelRequestBody, from: string, type: string): string {
  const labels = new RegExp(`<message from="${from}" type="${type}" msgId="(msg_[0-9a-f]{12})"`, 'g');
  return [...textOf(request).matchAll(labels)].at(-1)?.[1] ?? 'none';
}
