import { type Item, timelineItem } from './item';
import { withoutNotice } from './scripted-notice';

const MESSAGE = /<message ([^>]*)>([\s\S]*?)<\/message>/g;
const ATTRIBUTE = /(\w+)="([^"]*)"/g;
const CONTEXT = /\n?<context>\n?([\s\S]*?)\n?<\/context>\s*$/;

/** The messages of a text, as the engine labels them. */
export function readMails(text: string, at: number): Item[] {
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
