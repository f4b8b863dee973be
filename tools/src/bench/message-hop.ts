import { type BenchStand, PREFIX } from './bench-stand';
import { nowMs } from './clock';
import { idleAgents, type Place } from './idle-agents';
import { interleave } from './interleave';
import { KeyWatch } from './key-watch';
import { startPeer } from './peer-process';
import { apart, sidesOf } from './processors';
import { percentileRows, type Row } from './row';

const CHANNEL = `${PREFIX}:raw:notify`;
const LIST = `${PREFIX}:raw:memory:mail`;
const CONTENT = 'Take the figures of the second quarter instead. '.repeat(4);

/** Hops go round over so many agents, so that each has a journal of a usual length. */
const AGENTS = 30;

/**
 * A message hop: from the call of `send` in this process until the message is in the journal of an idle agent, which
 * lives in the worker's process. The floor is what a wake-up through Redis cannot do without: `LPUSH` and `PUBLISH` in
 * one round trip here, and another bare process that is woken and drains the list with the shortest possible script.
 *
 * Both ends are seen in the same way and by one clock: Redis notifies this process of the change that the last script
 * makes (the journal grows; the list is deleted). Nothing is polled during a sample, neither receiver does anything for
 * the measurement's sake, and both figures hold the same way back from Redis to here. The model call that follows the
 * hop is over, and the agent idle again, before the next sample begins. Who is woken is on a processor of its own.
 */
export async function messageHop(stand: BenchStand): Promise<Row[]> {
  const agents = await idleAgents(stand, AGENTS);
  const watch = await KeyWatch.start(stand.redis, `${PREFIX}:*memory:*`);
  const receiver = await startPeer('raw-receiver', [stand.stack.redis.url, CHANNEL, LIST]);
  const letter = { from: 'lead', type: 'revision', content: CONTENT };
  const body = JSON.stringify(letter);

  const floor = async () => {
    const drained = watch.next(LIST, 'del');
    const sentAt = nowMs();
    await stand.redis.pipeline().lpush(LIST, body).publish(CHANNEL, '+').exec();
    return (await drained) - sentAt;
  };
  const hop = async (index: number) => {
    const { sessionId, agent } = agents[index % agents.length] as Place;
    const journaled = watch.next(`:${sessionId}:${agent}`, 'rpush');
    const sentAt = nowMs();
    await stand.mailbox.send(sessionId, { ...letter, to: agent });
    const took = (await journaled) - sentAt;
    await stand.quiet(sessionId, agent);
    return took;
  };
  const samples = await apart(sidesOf(stand, receiver.pid), () => interleave(hop, floor));
  await receiver.stop();
  await watch.stop();
  return percentileRows('message-hop', samples.product, {
    name: 'LPUSH+PUBLISH, drain',
    samples: samples.floor,
  });
}
