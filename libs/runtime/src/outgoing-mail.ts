import { readArguments } from '@mailroom/capabilities';
import {
  foldName,
  LEAD,
  LIMITS,
  messageType,
  roleOf,
  type SendCode,
  type SentEntry,
  sendableTypes,
  type ToolCall,
} from '@mailroom/contracts';
import { derivedMessageId, type OutgoingMessage } from '@mailroom/mailbox';
import { z } from 'zod';
import { recipientsOf, type Seat } from './team';

const sendArguments = z.object({
  to: z.string(),
  type: z.string(),
  content: z.string().min(1),
  context: z.string().nullish(),
  inReplyTo: z.string().nullish(),
});

/** A `send_message` call, ready for the commit or refused before it (R1, R7). */
export type Addressed = { ok: true; message: OutgoingMessage } | { ok: false; entry: SentEntry };

/** Checks all that the engine can know before the commit; the mailbox checks the rest. Sends nothing. */
export function addressMessage(call: ToolCall, seat: Seat, sessionId: string, step: number): Addressed {
  const msgId = derivedMessageId(sessionId, seat.address, step, call.id);
  const read = readArguments(call.arguments);
  const parsed = read.ok ? sendArguments.safeParse(read.value) : undefined;
  const refuse = (code: SendCode, to: string, type: string, detail: string[]): Addressed => ({
    ok: false,
    entry: { kind: 'sent', callId: call.id, code, msgId, to, type, detail },
  });
  if (!read.ok) return refuse('invalid_arguments', '', '', [read.error]);
  if (!parsed?.success)
    return refuse(
      'invalid_arguments',
      '',
      '',
      parsed?.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`) ?? [],
    );

  const { type, content } = parsed.data;
  const recipients = recipientsOf(seat);
  const to = resolveName(parsed.data.to, [LEAD, ...seat.team.members.map((member) => member.as)]);
  if (to === seat.address) return refuse('self_addressed', parsed.data.to, type, recipients);
  const member = seat.team.members.find((candidate) => candidate.as === to);
  if (to === undefined) return refuse('unknown_recipient', parsed.data.to, type, recipients);
  if (to !== LEAD && !member?.available) return refuse('agent_unavailable', to, type, recipients);
  const allowed = sendableTypes(seat.role, roleOf(to));
  if (!messageType.safeParse(type).success || !(allowed as readonly string[]).includes(type))
    return refuse('wrong_direction', to, type, [...allowed]);
  const context = parsed.data.context ?? undefined;
  if (Buffer.byteLength(content) + Buffer.byteLength(context ?? '') > LIMITS.bodyBytes)
    return refuse('body_too_large', to, type, [String(LIMITS.bodyBytes)]);
  const inReplyTo = parsed.data.inReplyTo || undefined;
  return {
    ok: true,
    message: {
      callId: call.id,
      msgId,
      to,
      type,
      content,
      ...(context !== undefined && { context }),
      ...(inReplyTo && { inReplyTo }),
    },
  };
}

function resolveName(asked: string, names: readonly string[]): string | undefined {
  return names.find((name) => name === asked) ?? names.find((name) => foldName(name) === foldName(asked));
}
