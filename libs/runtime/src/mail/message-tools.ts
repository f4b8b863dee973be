import type { MessageType, ToolSpec } from '@mailroom/contracts';
import { recipientsOf, type Seat, sendableBy } from '../team';

export const SEND_MESSAGE = 'send_message';
export const WAIT_FOR_MESSAGES = 'wait_for_messages';

/** The tools of a seat, which are asked for at every step, twice where there are calls. */
const KNOWN = new WeakMap<Seat, readonly ToolSpec[]>();

/** The two tools of a seat (seed 000 §3.4): `to` and `type` list only what this agent may use. None when it is alone. */
export function messageTools(seat: Seat): readonly ToolSpec[] {
  const known = KNOWN.get(seat);
  if (known) return known;
  const tools = toolsFor(seat);
  KNOWN.set(seat, tools);
  return tools;
}

function toolsFor(seat: Seat): ToolSpec[] {
  const recipients = recipientsOf(seat);
  if (recipients.length === 0) return [];
  const types = new Set<MessageType>(recipients.flatMap((to) => sendableBy(seat, to)));
  const send: ToolSpec = {
    name: SEND_MESSAGE,
    description: 'Sends a message to another agent of this session. Returns at once; a reply comes to your inbox.',
    parameters: {
      type: 'object',
      properties: {
        to: { type: 'string', enum: recipients, description: 'Address of the recipient' },
        type: { type: 'string', enum: [...types], description: 'What the message is' },
        content: { type: 'string', description: 'The message' },
        context: { type: 'string', description: 'Additional material (optional)' },
        inReplyTo: {
          type: 'string',
          description: 'msgId of the message that this one answers; give it when you answer',
        },
      },
      required: ['to', 'type', 'content'],
      additionalProperties: false,
    },
  };
  // Who was called as a tool has nothing to wait for but an answer, and a question parks it by itself.
  if (seat.reports) return [send];
  return [
    send,
    {
      name: WAIT_FOR_MESSAGES,
      description: 'Parks you until mail comes. Call it when you have nothing to do before that.',
      parameters: { type: 'object', properties: {}, additionalProperties: false },
    },
  ];
}
