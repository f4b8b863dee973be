import { LIMITS } from '@mailroom/contracts';
import { callSums } from './call-sums';
import type { OutgoingHandoff, StepPart } from './lease';
import { storedBody } from './stored-body';

/**
 * What `commit.lua` is told of a part: the plan, and then, in its order, the texts that it stores as they are. `lookId`
 * names the look into the mailbox that goes with it. Of one shape whatever the part holds (JSON drops what is undefined):
 * every step of every agent comes through here, and each further shape makes V8 compile it again.
 */
export function commitArgs(part: StepPart, lookId: string): string[] {
  const { entries, events, usage, sends, handoffs = [], answers = [], final, settle, known } = part;
  const plan = {
    step: part.step,
    open: part.open,
    closes: part.closes,
    park: part.park,
    spent: part.spent,
    leave: part.leave,
    conclude: part.conclude,
    entries: entries.length,
    events: events.map(({ code }) => code),
    sends: filled(
      sends.map(({ callId, msgId, to, type, inReplyTo }) => {
        return { callId, id: msgId, to, type, inReplyTo };
      }),
    ),
    usage: usage && callSums(usage),
    handoffs: filled(handoffs.map(requestOf)),
    answers: filled(answers.map(({ callId, msgId, question }) => ({ callId, id: msgId, question }))),
    final: final && { status: final.status, force: final.force, code: final.code },
    settle: settle && { status: settle.status, reason: settle.reason, force: settle.force },
    look: known === undefined ? undefined : { known, bytes: LIMITS.drainBytes, id: lookId },
  };
  const args = [JSON.stringify(plan)];
  for (const entry of entries) args.push(JSON.stringify(entry));
  for (const { data } of events) args.push(JSON.stringify(data));
  if (usage) args.push(JSON.stringify(usage));
  for (const send of sends) args.push(storedBody(send));
  for (const handoff of handoffs) args.push(storedBody(handoff));
  for (const answer of answers) args.push(storedBody(answer));
  if (final) args.push(storedBody({ ...final, content: final.text }));
  if (settle) args.push(JSON.stringify({ text: settle.text }));
  return args;
}

function requestOf({ content, context, traceparent, ...request }: OutgoingHandoff): object {
  return request;
}

/** The script asks whether there are any, and in Lua an empty list is as true as a full one: none is sent. */
function filled<T>(list: T[]): T[] | undefined {
  return list.length > 0 ? list : undefined;
}
