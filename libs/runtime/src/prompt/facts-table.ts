import type { AgentMessage } from '@mailroom/contracts';
import type { Inbox } from '@mailroom/mailbox';
import { neutralise } from './inbox-block';

const WHY_LAST: Record<string, string> = {
  max_steps: 'the step limit of this run is reached',
  budget_calls: 'the model calls of this session are spent',
  budget_tokens: 'the tokens of this session are spent',
  budget_cost: 'the money of this session is spent',
  run_budget_calls: 'the model calls of this run are spent',
  run_budget_tokens: 'the tokens of this run are spent',
  run_budget_cost: 'the money of this run is spent',
  quiescent: 'nobody of the team was working any more',
  wait_budget: 'nothing happened in this run for too long',
};

/**
 * What the lead must not forget or invent (R16): each open task and each open question, from the engine's own records.
 * Ends every prompt of a lead and is not journaled.
 */
export function factsTable(inbox: Inbox, messages: ReadonlyMap<string, AgentMessage>, now: Date): string {
  const lines: string[] = [];
  if (inbox.tasks.length === 0) lines.push('Open tasks: none.');
  else {
    lines.push('| open task | agent | state | age | last progress | result |', '|---|---|---|---|---|---|');
    for (const task of inbox.tasks) {
      const progress = messages.get(task.progressId ?? '')?.content ?? '-';
      const cells = [task.id, task.agentId, stateOf(inbox, task.agentId), age(task.openedAt, now), excerpt(progress)];
      lines.push(`| ${cells.join(' | ')} | result NOT received |`);
    }
  }
  const asked = inbox.questions.filter((question) => question.to === 'lead');
  for (const question of asked) {
    const text = excerpt(messages.get(question.id)?.content ?? '-');
    lines.push(
      `Open question ${question.id} of ${question.from}, asked ${age(question.askedAt, now)} ago, NOT answered: ${text}`,
    );
  }
  if (inbox.final)
    lines.push(
      `This is your last step in this run, because ${WHY_LAST[inbox.final] ?? inbox.final}. You have no tools now. ` +
        'Write your answer to the user from what you have, and say plainly what is missing.',
    );
  return `<facts>\n${lines.join('\n')}\n</facts>`;
}

function stateOf(inbox: Inbox, agent: string): string {
  if (inbox.questions.some((question) => question.to === 'lead' && question.from === agent))
    return 'waits for your answer';
  const { state, tail } = inbox.states[agent] ?? { state: 'unloaded', tail: 'idle' };
  if (state === 'loaded') return tail === 'idle' ? 'idle' : 'working';
  return state === 'scheduled' ? 'starting' : 'not loaded';
}

/** Coarse on purpose: a provider's cache keeps more of a prompt that changes less. */
function age(since: string, now: Date): string {
  const seconds = Math.max(0, Math.round((now.getTime() - Date.parse(since)) / 1_000));
  if (seconds < 60) return 'under 1 min';
  return seconds < 3_600 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3_600)} h`;
}

function excerpt(text: string): string {
  const line = neutralise(text)
    .replace(/[\r\n|]+/g, ' ')
    .trim();
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
