import { testRedis } from '@mailroom/tools';
import { SessionReader } from './session-reader';
import { BenchSession } from './testing/bench-session';

const redis = testRedis();
let session: BenchSession;
beforeEach(async () => {
  session = await BenchSession.open({ redis });
});
afterEach(() => session.close());

test('a run has spent what its session has spent since the run began, while it is on and afterwards', async () => {
  const reader = new SessionReader(session.redis, session.prefix);
  const usageOf = async (runId = '') => (await reader.run('default', session.id, runId))?.usage;
  const lead = await session.startRun();
  const first = lead.inbox?.runId;
  await lead.step({});
  expect(await usageOf(first)).toMatchObject({ calls: 1, input: 10, output: 5 });
  expect(await lead.say('the answer')).toMatchObject({ settled: true });
  await session.ask();
  await lead.read();
  expect(await usageOf(lead.inbox?.runId)).toMatchObject({ calls: 0, input: 0, output: 0 });
  await lead.step({});
  expect(await usageOf(lead.inbox?.runId)).toMatchObject({ calls: 1, input: 10, output: 5 });
  expect(await usageOf(first)).toMatchObject({ calls: 2, input: 20, output: 10 });
});
