import { readArguments } from '@mailroom/capabilities';
import { foldName, LIMITS, messageType, type SendCode, type SentEntry, type ToolCall } from '@mailroom/contracts';
import { derivedMessageId, type OutgoingAnswer, type OutgoingMessage } from '@mailroom/mailbox';
import { z } from 'zod';
import { recipientsOf, type Seat, sendableBy } from '../team';

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
  const names = [...recipients, seat.address, ...seat.team.members.map((member) => member.as)];
  const to = resolveName(parsed.data.to, names);
  if (to === seat.address) return refuse('self_addressed', parsed.data.to, type, recipients);
  if (to === undefined) return refuse('unknown_recipient', parsed.data.to, type, recipients);
  if (!recipients.includes(to)) return refuse('agent_unavailable', to, type, recipients);
  const allowed = sendableBy(seat, to);
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

const answerArguments = z.object({ question: z.string().min(1), answer: z.string().min(1) });

/** An `answer_question` call, ready for the commit or refused before it. */
export function addressAnswer(
  call: ToolCall,
  seat: Seat,
  sessionId: string,
  step: number,
): { ok: true; answer: OutgoingAnswer } | { ok: false; entry: SentEntry } {
  const msgId = derivedMessageId(sessionId, seat.address, step, call.id);
  const read = readArguments(call.arguments);
  const parsed = answerArguments.safeParse(read.ok ? read.value : undefined);
  const refuse = (code: SendCode, detail: string[]) => ({
    ok: false as const,
    entry: { kind: 'sent' as const, callId: call.id, code, msgId, to: '', type: 'clarify_resp', detail },
  });
  if (!parsed.success) return refuse('invalid_answer', []);
  const { question, answer } = parsed.data;
  if (Buffer.byteLength(answer) > LIMITS.bodyBytes) return refuse('body_too_large', [String(LIMITS.bodyBytes)]);
  return { ok: true, answer: { callId: call.id, msgId, question: question.trim(), content: answer } };
}

function resolveName(asked: string, names: readonly string[]): string | undefined {
  return names.find((name) => name === asked) ?? names.find((name) => foldName(name) === foldName(asked));
}
