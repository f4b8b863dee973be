import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionEvent } from '@mailroom/contracts';
import { SessionClient, type Stack } from '@mailroom/tools';
import { chains, eventsUntil, isDone, messagesOf, model, REQUEST, shippedRules, storyStack } from './q2-story';

const folder = mkdtempSync(join(tmpdir(), 'mailroom-crash-'));
let stack: Stack;
afterEach(() => stack.stop());
afterAll(() => rmSync(folder, { recursive: true }));

/** The shipped story with one answer held until it is released. */
function rulesThatHold(when: string, name: string): string {
  const file = join(folder, `${name}.yaml`);
  const rule = `  - name: held\n    when: ${when}\n    hold: { name: ${name}, timeoutMs: 60000 }\n`;
  writeFileSync(file, `include: [${JSON.stringify(shippedRules('default'))}]\nrules:\n${rule}`);
  return file;
}

/** What an undisturbed run comes to, and what a disturbed one has to come to as well. */
const summary = (events: SessionEvent[]) => ({
  done: events.at(-1)?.data,
  chains: [...new Set(chains(messagesOf(events)))].sort(),
  results: messagesOf(events)
    .filter(({ type }) => type === 'result')
    .map(({ from, status }) => `${from} ${status}`)
    .sort(),
});

const undisturbed = {
  results: ['alice ok', 'bob ok', 'reporter ok', 'reporter ok'],
};

test('a worker that is killed in the middle of a step changes nothing of how the run ends', async () => {
  stack = await storyStack({
    workers: 1,
    modelEnv: { RULES: rulesThatHold('{ agent: alice, has: [{ got: clarify_resp }] }', 'mid-step') },
  });
  const url = stack.gateways[0]?.url ?? '';
  const { id } = await new SessionClient(url).open('coordinator', REQUEST);
  await heldAt('mid-step');
  await stack.workers[0]?.kill();
  await stack.startWorker();
  await model(stack, 'POST', '/barriers/mid-step/release');
  const events = await eventsUntil(url, id, isDone);
  expect(summary(events)).toMatchObject({
    done: { status: 'completed', text: expect.stringContaining('## Risks') },
    ...undisturbed,
  });
  expect(
    events.filter(({ event, data }) => event === 'ax' && data.reason === 'lost').map(({ agentId }) => agentId),
  ).toContain('alice');
}, 90_000);

test('a gateway that is killed while the lead waits changes nothing of how the run ends', async () => {
  stack = await storyStack({ workers: 1, modelEnv: { RULES: rulesThatHold('{ agent: bob }', 'bob-held') } });
  const { id } = await new SessionClient(stack.gateways[0]?.url ?? '').open('coordinator', REQUEST);
  await eventsUntil(stack.gateways[0]?.url ?? '', id, ({ event, data }) => event === 'rs' && data.status === 'waiting');
  await heldAt('bob-held');
  await stack.gateways[0]?.kill();
  const { url } = await stack.startGateway();
  await model(stack, 'POST', '/barriers/bob-held/release');
  const events = await eventsUntil(url, id, isDone);
  expect(summary(events)).toMatchObject({
    done: { status: 'completed', text: expect.stringContaining('## Risks') },
    ...undisturbed,
  });
}, 90_000);

test('a worker that is asked to stop hands its agents over and is gone in seconds, and no task fails', async () => {
  stack = await storyStack({ workers: 2, modelEnv: { RULES: shippedRules('held-answer') } });
  const url = stack.gateways[0]?.url ?? '';
  const { id } = await new SessionClient(url).open('coordinator', REQUEST);
  const seen = await eventsUntil(url, id, ({ event, agentId }) => event === 'ac' && agentId === 'alice');
  const host = String(seen.find(({ event, agentId }) => event === 'as' && agentId === 'alice')?.data.host);
  const exit = await stack.workers.find(({ name }) => host.startsWith(name))?.stop();
  expect(exit).toEqual({ code: 0, signal: null });
  await model(stack, 'POST', '/barriers/answer/release');
  const events = await eventsUntil(url, id, isDone);
  expect(summary(events)).toMatchObject({ done: { status: 'completed' }, ...undisturbed });
  expect(
    events.filter(({ event, agentId }) => event === 'ax' && agentId === 'alice').map(({ data }) => data.reason),
  ).toEqual(['released', 'completed']);
}, 90_000);

/** Resolves when an answer is held at the barrier. */
async function heldAt(barrier: string): Promise<void> {
  for (;;) {
    const { barriers } = (await model(stack, 'GET', '/stats')) as { barriers: Record<string, { waiting: number }> };
    if ((barriers[barrier]?.waiting ?? 0) > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
