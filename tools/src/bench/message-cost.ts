import { type BenchStand, OWN_CONNECTIONS } from './bench-stand';
import { budgetRow } from './budgets';
import { rest, until } from './clock';
import { countCommands } from './command-count';
import { idleAgents, type Place } from './idle-agents';
import { netBytes } from './redis-info';
import type { Row } from './row';

const AGENTS = 30;
const ROUNDS = 10;
const CONTENT = 'Take the figures of the second quarter instead. '.repeat(4);

/**
 * What one message to an idle agent in another process asks of Redis, on both sides: from the send until the agent
 * idles again, the one step that the message causes included. Commands are counted with MONITOR, and bytes in rounds of
 * their own by Redis itself; a heartbeat among so many messages is not seen in them.
 */
export async function messageCost(stand: BenchStand): Promise<Row[]> {
  const agents = await idleAgents(stand, AGENTS);
  const messages = AGENTS * ROUNDS;
  await sendRounds(stand, agents);
  const own = `${OWN_CONNECTIONS}requests`;
  const { sent } = await countCommands(stand, { background: false, own }, () => sendRounds(stand, agents));
  const bytesBefore = await netBytes(stand.redis);
  await sendRounds(stand, agents);
  const bytes = (await netBytes(stand.redis)) - bytesBefore;
  return [
    budgetRow('redis-commands-per-message', 'commands', sent / messages),
    budgetRow('redis-bytes-per-message', 'bytes', bytes / messages),
  ];
}

/** The next round begins when all agents have asked the model and had time to idle; nobody asks Redis whether. */
async function sendRounds({ mailbox, model }: BenchStand, agents: readonly Place[]): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const wanted = model.served + agents.length;
    for (const { sessionId, agent } of agents)
      await mailbox.send(sessionId, { from: 'lead', to: agent, type: 'revision', content: CONTENT });
    await until('every agent asks the model', () => model.served >= wanted);
    for (let pause = 0; pause < 10; pause++) await rest();
  }
}
