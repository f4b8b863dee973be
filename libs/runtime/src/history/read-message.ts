import type { AgentMessage, ToolCall, ToolEntry, ToolSpec } from '@mailroom/contracts';
import { z } from 'zod';
import type { Memory } from '../memory';
import { inboxBlock } from '../prompt/inbox-block';
import { resultText } from '../prompt/render-entries';
import { bytesOf } from './context-window';
import { startOf } from './cut-body';

export const READ_MESSAGE = 'read_message';

const SPEC: ToolSpec = {
  name: READ_MESSAGE,
  description:
    'Reads an earlier message or tool result again, whole: also what was cut or is only in the summary. Long ones come in pieces.',
  parameters: {
    type: 'object',
    properties: {
      id: { type: 'string', description: 'msgId of the message, or the id that the cut names' },
      offset: { type: 'integer', minimum: 0, description: 'Character to begin with (default 0)' },
    },
    required: ['id'],
    additionalProperties: false,
  },
};
const parameters = z.object({ id: z.string(), offset: z.coerce.number().int().min(0).default(0) });

/**
 * The tool that reads what a prompt does not show whole (R22). Offered from when something can be cut, and then for good,
 * so that a provider's cache is lost once at most: a quarter of the window is at least as many bytes.
 */
export function readTools(memory: Memory, window: number | undefined): ToolSpec[] {
  return window !== undefined && bytesOf(memory, 0) > window / 4 ? [SPEC] : [];
}

/** The result of a call: a piece of at most an eighth of the window, and where the next one begins. */
export function readMessage(
  call: ToolCall,
  memory: Memory,
  window: number | undefined,
): Pick<ToolEntry, 'content' | 'error'> {
  const asked = parameters.safeParse(parse(call.arguments));
  if (!asked.success) return { content: 'Needed: id; optional: offset, a whole number.', error: true };
  const { id, offset } = asked.data;
  const body = bodyOf(id, memory);
  if (!body)
    return { content: `Nothing here has the id "${id}". Use a msgId, or the id that a cut names.`, error: true };
  if (offset >= body.text.length && offset > 0)
    return { content: `"${id}" has ${body.text.length} characters; nothing is left from ${offset} on.`, error: true };
  const piece = startOf(body.text, offset, Math.max(100, Math.floor((window ?? 8_000) / 8)));
  const end = offset + piece.length;
  const more = end < body.text.length ? `Next: offset ${end}.` : 'This is the end.';
  const shown = body.message ? inboxBlock([{ ...body.message, content: piece }]) : piece;
  return { content: `[characters ${offset} to ${end} of ${body.text.length}. ${more}]\n${shown}` };
}

/** A message, its context, or a tool result: the latest one of that id, or `id@step` of that step. */
function bodyOf(id: string, memory: Memory): { text: string; message?: AgentMessage } | undefined {
  const [msgId = '', part] = id.split('.');
  const mail = memory.messages.get(msgId);
  if (mail) {
    const { context = '', ...message } = mail;
    return { text: part === 'context' ? context : message.content, message };
  }
  const index = memory.entries.findLastIndex(
    (entry) =>
      entry.kind === 'assistant' && entry.toolCalls.some((call) => call.id === id || `${call.id}@${entry.step}` === id),
  );
  const answer = memory.entries[index];
  if (answer?.kind !== 'assistant') return undefined;
  const callId = answer.toolCalls.find((call) => call.id === id || `${call.id}@${answer.step}` === id)?.id ?? '';
  return { text: resultText(memory.resultsOf(index).get(callId), memory) };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
