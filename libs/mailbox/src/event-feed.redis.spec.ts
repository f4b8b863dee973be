import type { SessionEvent } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import type { Redis } from 'ioredis';
import { connect } from './connection';
import { EventFeed } from './event-feed';
import { Notifications } from './notifications';
import { BenchSession } from './testing/bench-session';

const redis = testRedis();
let session: BenchSession;
let subscriber: Redis;
let reader: AsyncGenerator<SessionEvent>;
let key: string;
const leave = new AbortController();

beforeEach(async () => {
  session = await BenchSession.open({ redis });
  key = session.keys.of('events', session.id);
  subscriber = connect({ url: redis.url, name: 'reader', mood: 'patient' });
  reader = new EventFeed(session.redis, new Notifications(subscriber, redis.prefix), redis.prefix).follow(
    session.id,
    '',
    leave.signal,
  );
});
afterEach(async () => {
  await reader.return(undefined);
  subscriber.disconnect();
  await session.close();
});

/** The next `count` events of the reader. */
async function next(count: number): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  while (events.length < count) events.push((await reader.next()).value);
  return events;
}

async function streamIds(): Promise<string[]> {
  return (await session.redis.xrange(key, '-', '+')).map(([id]) => id);
}

test('a reader whose last event Redis has lost is told so, and then gets all that is there', async () => {
  await session.ask();
  const [, last] = await next(2);
  await session.redis.xdel(key, last?.id ?? '');
  await session.ask();
  const left = await streamIds();
  const [reset, ...rest] = await next(1 + left.length);
  expect(reset).toMatchObject({ event: 'reset', data: { after: last?.id, first: left[0], last: left.at(-1) } });
  expect(rest.map(({ id }) => id)).toEqual(left);
});

test('a reader that was overtaken by trimming is told so, and then gets all that is there', async () => {
  await session.ask();
  await next(2);
  await session.ask();
  await session.ask();
  await session.redis.xtrim(key, 'MAXLEN', 1);
  await session.ask();
  const left = await streamIds();
  const [reset, ...rest] = await next(1 + left.length);
  expect(reset).toMatchObject({ event: 'reset' });
  expect(rest.map(({ id }) => id)).toEqual(left);
});

test('a reader of an empty stream waits, and misses nothing', async () => {
  const first = reader.next();
  await session.ask();
  expect((await first).value).toMatchObject({ event: 'rs', data: { status: 'queued' } });
});
