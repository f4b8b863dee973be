import type { AgentMessage } from '@mailroom/contracts';

const BLOCK_TAG = /<(?=\s*\/?\s*(?:inbox|message|context|engine|facts|summary|sent)\b)/gi;

/** Text in which nothing can be read as the begin or end of one of the engine's blocks (R6). */
export function neutralise(text: string): string {
  return text.replace(BLOCK_TAG, '&lt;');
}

/** Mail as the model reads it: one labelled block of data, oldest message first (R6, R8). */
export function inboxBlock(messages: readonly AgentMessage[]): string {
  return `<inbox>\n${messages.map(messageBlock).join('\n')}\n</inbox>`;
}

/** Messages that the agent itself sent, as it reads them again when their step is not shown any more (R22). */
export function sentBlock(messages: readonly SentMessage[]): string {
  return `<sent>\n${messages.map(messageBlock).join('\n')}\n</sent>`;
}

/** A message without what only a mailbox adds. */
export type SentMessage = Pick<AgentMessage, 'msgId' | 'to' | 'type' | 'content' | 'inReplyTo' | 'context'>;

/** A sentence of the engine as the model reads it. */
export function engineBlock(text: string): string {
  return `<engine>${text}</engine>`;
}

/** One message with the labels that only the engine writes. */
export function messageBlock(message: AgentMessage | SentMessage): string {
  const { from, status, late } = { from: undefined, status: undefined, late: undefined, ...message };
  const attributes = [
    ['from', from],
    ['to', from === undefined ? message.to : undefined],
    ['type', message.type],
    ['msgId', message.msgId],
    ['inReplyTo', message.inReplyTo],
    ['status', status],
    ['late', late ? 'true' : undefined],
  ]
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}="${attribute(value ?? '')}"`);
  const context = message.context === undefined ? '' : `\n<context>\n${neutralise(message.context)}\n</context>`;
  return `<message ${attributes.join(' ')}>\n${neutralise(message.content)}${context}\n</message>`;
}

function attribute(value: string): string {
  return value.replace(/[&"<>\r\n]/g, ' ');
}
