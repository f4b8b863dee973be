import type { BenchStand } from './bench-stand';
import { nowMs } from './clock';
import { isReport, TEAM } from './team-model';

/** How the lead works with its specialists: the id of the lead's definition. */
export type TeamMode = 'team' | 'team-handoff';

/**
 * A team at work: a lead asks three specialists at once, each uses the tool `lookup` once and answers, the lead writes.
 * Eight streamed calls of a model without latency; by handoff eleven, since each specialist is asked for its report.
 */
export async function defineTeam(stand: BenchStand): Promise<void> {
  await stand.define({ id: 'specialist', model: 'team-specialist', tools: ['lookup'] });
  const subAgents = TEAM.map((as) => ({ as, agent: 'specialist' }));
  await stand.define({ id: 'team', model: 'team-lead', subAgents });
  await stand.define({ id: 'team-handoff', model: 'team-lead', subAgents, collaboration: 'handoff' });
}

/** One session of that team through the gateway. Resolves with the ms from request to answer. */
export async function askTeam(stand: BenchStand, team: TeamMode = 'team'): Promise<number> {
  const startedAt = nowMs();
  const { status, output } = await stand.ask(team, 'Make the report');
  if (!isReport(output)) throw new Error(`the run is ${status} and this is not the report: ${output}`);
  return nowMs() - startedAt;
}
