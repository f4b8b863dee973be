import type { BenchStand } from './bench-stand';

/** An agent of a session. */
export interface Place {
  sessionId: string;
  agent: string;
}

/** As in a small team: what a script reads of a session grows with its members. */
const TEAM_SIZE = 3;

/** Opens sessions whose sub-agents are in the state of before their first message. */
export async function unloadedAgents(
  stand: BenchStand,
  model: string,
  count: number,
  teamSize = TEAM_SIZE,
): Promise<Place[]> {
  const member = `${model}-member`;
  const lead = `${model}-lead`;
  const team = Array.from({ length: teamSize }, (_, i) => `member-${i + 1}`);
  await stand.define({ id: member, model, maxSteps: 1_000 });
  await stand.define({ id: lead, model, subAgents: team.map((as) => ({ as, agent: member })) });
  const places: Place[] = [];
  while (places.length < count) {
    const sessionId = await stand.open(lead);
    places.push(...team.map((agent) => ({ sessionId, agent })));
  }
  return places;
}

/** The same, each given a task, upon which it waits for messages: loaded, idle, and for a day no reason to leave. */
export async function idleAgents(stand: BenchStand, count: number): Promise<Place[]> {
  const places = await unloadedAgents(stand, 'waits', count);
  for (const { sessionId, agent } of places) {
    await stand.mailbox.send(sessionId, { from: 'lead', to: agent, type: 'task', content: 'Wait for what comes.' });
    await stand.quiet(sessionId, agent);
  }
  return places;
}
