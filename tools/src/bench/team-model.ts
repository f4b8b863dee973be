import type { ModelRequest, ScriptedAnswer } from './model-request';

/** The specialists of the lead. */
export const TEAM = ['alice', 'bob', 'carol'];

const FINDING = `Finding: ${'revenue grew 12 percent. '.repeat(8)}`;
const REPORT = `Final report: ${'revenue and risks of the quarter. '.repeat(8)}`;

/**
 * The lead: gives each specialist its part at once, by message where it can and else by function call (`alice`, or the
 * handoff tool `subagent_alice`), and writes when as many findings have come back.
 */
export function leadAnswer({ messages, tools = [] }: ModelRequest): ScriptedAnswer {
  if (!messages.some(({ role }) => role === 'assistant')) {
    const offered = tools.map(({ function: { name } }) => name);
    if (!offered.includes('send_message')) {
      const toolOf = (name: string) => offered.find((tool) => tool === `subagent_${name}`) ?? name;
      return { calls: TEAM.map((name) => ({ name: toolOf(name), args: { input: 'Collect your part' } })) };
    }
    const send = (to: string) => ({ name: 'send_message', args: { to, type: 'task', content: 'Collect your part' } });
    return { calls: [...TEAM.map(send), { name: 'wait_for_messages', args: {} }] };
  }
  const findings = JSON.stringify(messages).split('Finding: ').length - 1;
  return { text: findings >= TEAM.length ? REPORT : 'Waiting for the team.' };
}

/** A specialist: looks something up once, then answers, and answers the same when it is asked for its report. */
export function specialistAnswer({ messages }: ModelRequest): ScriptedAnswer {
  if (messages.some(({ role }) => role === 'tool')) return { text: FINDING };
  return { calls: [{ name: 'lookup', args: { query: 'q2 revenue' } }] };
}

/** Whether a team came to its end. */
export function isReport(text: string | undefined): boolean {
  return text?.startsWith('Final report') ?? false;
}
