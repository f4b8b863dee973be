import { Queue } from 'bullmq';
import { type BenchStand, PREFIX } from './bench-stand';
import { nowMs, within } from './clock';
import { type Place, unloadedAgents } from './idle-agents';
import { interleave, SAMPLES } from './interleave';
import { startPeer } from './peer-process';
import { percentileRows, type Row } from './row';

const QUEUE = `${PREFIX}-bare`;

/**
 * A cold load: from the call of `send` to an agent that was never loaded until its first model request arrives: send,
 * enqueue, pick up, subscribe, claim, read the team, drain, build the prompt, connect to the model. The floor is a bare
 * BullMQ queue: from the call of `add` until the processor starts in another process, which tells the instant.
 */
export async function coldLoad(stand: BenchStand): Promise<Row[]> {
  const agents = await unloadedAgents(stand, 'answers', SAMPLES);
  const { hostname: host, port } = new URL(stand.stack.redis.url);
  const queue = new Queue(QUEUE, {
    connection: { host, port: Number(port) },
    defaultJobOptions: { removeOnComplete: true },
  });
  await queue.waitUntilReady();
  const receiver = await startPeer('queue-receiver', [host, port, QUEUE]);

  const floor = async () => {
    const started = within('the bare job starts', receiver.next<{ at: number }>());
    const addedAt = nowMs();
    await queue.add('job', { index: 1 });
    return (await started).at - addedAt;
  };
  const load = async (index: number) => {
    const { sessionId, agent } = agents[index] as Place;
    const asked = within('the first model request arrives', stand.model.nextRequest());
    const sentAt = nowMs();
    await stand.mailbox.send(sessionId, { from: 'lead', to: agent, type: 'task', content: 'Find out what is new.' });
    const took = (await asked) - sentAt;
    await stand.quiet(sessionId, agent);
    return took;
  };
  const samples = await interleave(load, floor);
  await receiver.stop();
  await queue.close();
  return percentileRows('cold-load', samples.product, { name: 'BullMQ add, start', samples: samples.floor });
}
