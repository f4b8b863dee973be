import { connect } from '@mailroom/mailbox';
import { type BenchStand, OWN_CONNECTIONS } from './bench-stand';
import { nowMs } from './clock';
import { HeldAgent } from './held-agent';
import { inLanes } from './lanes';
import { scriptMicros } from './redis-info';
import { type Row, row } from './row';

/** Mailboxes that are written to at the same time, over one connection on which nobody waits for another. */
const LANES = 64;
const MESSAGES_PER_TURN = 3_000;
const TURNS = 10;
const WARM_UP_TURNS = 4;

const PREFIX = 'bench-rate';
const BODY = JSON.stringify({ content: 'Take the figures of the second quarter instead. '.repeat(4) });
const PUSH = "return redis.call('LPUSH', KEYS[1], ARGV[1])";
const TAKE = `local mail = redis.call('LRANGE', KEYS[1], 0, -1)
redis.call('DEL', KEYS[1])
return mail`;

/**
 * Messages that one process gets through one Redis: send, then drain by the recipient. Beside what the same scripts do if
 * Redis does nothing but run them, and, in turns, beside two scripts that append to a list and take it, by the same client
 * on the same connection.
 */
export async function messageRate(stand: BenchStand): Promise<Row[]> {
  const redis = connect({ url: stand.stack.redis.url, name: `${OWN_CONNECTIONS}rate`, mood: 'prompt' });
  await redis.connect();
  const agents: HeldAgent[] = [];
  while (agents.length < LANES) agents.push(await HeldAgent.claim(redis, PREFIX));
  const [push, take] = await Promise.all([PUSH, TAKE].map((script) => redis.script('LOAD', script)));

  const product = async (index: number) => {
    const agent = agents[index % LANES] as HeldAgent;
    await agent.send();
    await agent.drain();
  };
  const floor = async (index: number) => {
    const list = `${PREFIX}:raw:${index % LANES}`;
    await redis.evalsha(String(push), 1, list, BODY);
    await redis.evalsha(String(take), 1, list);
  };
  const took = { product: 0, floor: 0, scripts: 0 };
  for (let turn = 0; turn < WARM_UP_TURNS + TURNS; turn++) {
    const floorMs = await timeOf(floor);
    const before = await scriptMicros(redis);
    const productMs = await timeOf(product);
    if (turn < WARM_UP_TURNS) continue;
    took.floor += floorMs;
    took.product += productMs;
    took.scripts += ((await scriptMicros(redis)) - before) / 1_000;
  }
  redis.disconnect();
  const perSecond = (ms: number) => (TURNS * MESSAGES_PER_TURN * 1_000) / ms;
  const value = perSecond(took.product);
  return [
    row('messages-per-second', '1/s', value, { name: 'its scripts alone', value: perSecond(took.scripts) }),
    row('messages-per-second-lists', '1/s', value, { name: 'LPUSH, LRANGE+DEL', value: perSecond(took.floor) }),
  ];
}

async function timeOf(work: (index: number) => Promise<void>): Promise<number> {
  const startedAt = nowMs();
  await inLanes(MESSAGES_PER_TURN, LANES, work);
  return nowMs() - startedAt;
}
