import type { BenchStand } from './bench-stand';
import { nowMs } from './clock';
import { isReport, TEAM } from './team-model';

/**
 * A team at work: a lead asks three specialists at once, each uses the tool `lookup` once and answers, the lead writes.
 * Eight streamed calls of a model without latency.
 */
export async function defineTeam(stand: BenchStand): Promise<void> {
  await stand.define({ id: 'specialist', model: 'team-specialist', tools: ['lookup'] });
  const subAgents = TEAM.map((as) => ({ as, agent: 'specialist' }));
  await stand.define({ id: 'team', model: 'team-lead', subAgents });
}

/** One session of that team through the gateway. Resolves with the ms from request to answer. */
export async function askTeam(stand: BenchStand): Promise<number> {
  const startedAt = nowMs();
  const { status, output } = await stand.ask('team', 'Make the report');
  if (!isReport(output)) throw new Error(`the run is ${status} and this is not the report: ${output}`);
  return nowMs() - startedAt;
}
