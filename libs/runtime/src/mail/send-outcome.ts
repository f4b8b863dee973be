import { nearestName, type SentEntry } from '@mailroom/contracts';

/** What became of a `send_message` call, as its tool result: what happened, and the way out. */
export function sendOutcome(entry: SentEntry): string {
  const detail = entry.detail ?? [];
  const list = detail.join(', ') || 'nobody';
  switch (entry.code) {
    case 'ok':
      return `queued for ${entry.to} as ${entry.msgId}`;
    case 'unknown_recipient': {
      const near = nearestName(entry.to, detail);
      return `Not sent: nobody here is called "${entry.to}".${near ? ` Did you mean "${near}"?` : ''} You can write to: ${list}.`;
    }
    case 'agent_unavailable':
      return `Not sent: "${entry.to}" is not available now (its definition is missing or not active). You can write to: ${list}.`;
    case 'self_addressed':
      return `Not sent: "${entry.to}" is you. You can write to: ${list}.`;
    case 'wrong_direction':
      return `Not sent: you cannot send "${entry.type}" to ${entry.to}. Types for ${entry.to}: ${list}.`;
    case 'mailbox_full':
      return `Not sent: the mailbox of ${entry.to} is full. Go on with other work and send again after it has read its mail.`;
    case 'body_too_large':
      return `Not sent: content and context together have more than ${list} bytes. Send less, or in parts.`;
    case 'invalid_arguments':
      return `Not sent: the arguments are not right (${list}). Needed: to, type, content; optional: context, inReplyTo.`;
    case 'invalid_answer':
      return 'Not sent: needed are question (the msgId of a question that a colleague asked) and answer.';
    case 'unknown_reference':
      return 'Not sent: inReplyTo names no message of this session. Use a msgId from your inbox, or leave it out.';
    case 'ambiguous_task':
      return `Not sent: it is not clear which task this is about. Give inReplyTo, one of: ${list}.`;
    case 'no_open_task':
      return 'Not sent: you have no open task, so there is nothing to report a result for.';
    case 'task_closed':
      return 'Not sent: the result of this task was already delivered.';
    case 'task_revised':
      return 'Not sent: a revision of this task is in your inbox. Read it first; it comes with your next step.';
    case 'question_withdrawn':
      return 'Not sent: this question was withdrawn; its sender needs no answer any more.';
    case 'run_ending':
      return 'Not sent: the run is ending and takes no new work. Write your answer from what you have.';
    default:
      return `Not sent: ${entry.code}.`;
  }
}
