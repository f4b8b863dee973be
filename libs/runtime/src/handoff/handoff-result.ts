import type { AgentMessage, HandoffEntry, ResultStatus } from '@mailroom/contracts';
import { messageBlock, neutralise } from '../prompt/inbox-block';
import { ANSWER_QUESTION } from './handoff-tools';

const ERROR_TYPES: Partial<Record<ResultStatus, string>> = {
  timeout: 'handoff_timeout',
  failed: 'handoff_failed',
  cancelled: 'handoff_cancelled',
};

/** The result of a handoff as its caller's model reads it: a report, a question, or what went wrong. JSON, but for a question. */
export function handoffResult(entry: HandoffEntry, messages: ReadonlyMap<string, AgentMessage>): string {
  const message = messages.get(entry.ids[0] ?? '');
  if (entry.outcome === 'asked')
    return (
      `${entry.to} cannot go on without an answer. Answer with ${ANSWER_QUESTION} (question = the msgId below); its ` +
      `result is what ${entry.to} reports then.\n${message ? messageBlock(message) : ''}`
    );
  const text = neutralise(message?.content ?? '');
  if (entry.outcome === 'completed')
    return JSON.stringify({
      subagent: entry.to,
      toolName: entry.tool,
      output: text,
      steps: entry.steps,
      ...(message?.status === 'partial' && { status: 'partial' }),
    });
  const errorType = entry.outcome === 'denied' ? 'handoff_denied' : ERROR_TYPES[message?.status ?? 'failed'];
  return handoffError(errorType ?? 'handoff_failed', text, entry.tool, entry.callId);
}

/** A failed call of a colleague, as its tool result. */
export function handoffError(errorType: string, error: string, tool: string, callId: string): string {
  return JSON.stringify({ errorType, error, tool, callId });
}
