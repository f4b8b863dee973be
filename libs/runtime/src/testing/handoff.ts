import type { SessionEvent } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import type { ModelRequestBody } from './model-server';
import { type HarnessOptions, TeamHarness } from './team-harness';

type Agent = NonNullable<HarnessOptions['agents']>[number];

/** A lead, `boss`, that calls alice and bob as tools; `boss` states what it has otherwise. */
export function startHandoffTeam(
  answer: HarnessOptions['answer'],
  boss: Partial<Agent> = {},
  more: Partial<HarnessOptions> = {},
): Promise<TeamHarness> {
  const lead: Agent = { id: 'boss', subAgents: ['alice', 'bob'], collaboration: 'handoff', ...boss };
  return TeamHarness.start({ redis: testRedis(), answer, ...more, agents: [lead, ...(more.agents ?? [])] });
}

/** The data of all events of one code. */
export function dataOf(events: readonly SessionEvent[], code: string): Record<string, unknown>[] {
  return events.filter(({ event }) => event === code).map((event) => event.data);
}

/** A call of a colleague as a model makes it. */
export function handoffTo(name: string, task = `a task for ${name}`, context?: string) {
  return { name: `subagent_${name}`, args: { task, ...(context !== undefined && { context }) } };
}

/** The tool results of the last answer that a request shows, in order. */
export function resultsIn(request: ModelRequestBody | undefined): string[] {
  const messages = request?.messages ?? [];
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages.slice(last + 1).flatMap(({ role, content }) => (role === 'tool' ? [content ?? ''] : []));
}
