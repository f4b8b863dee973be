import { LEAD } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import { latch } from '../testing/latch';
import { askerOf } from '../testing/model-server';
import { mailId, send, story, textOf, wait } from '../testing/story';
import { type HarnessOptions, TeamHarness } from '../testing/team-harness';

const redis = testRedis();
let harness: TeamHarness;
afterEach(() => harness.close());

/** What the lead is told about its calls of the first step. */
async function outcomes(
  calls: { name: string; args: unknown }[],
  options: Partial<HarnessOptions> = {},
): Promise<string[]> {
  harness = await TeamHarness.start({
    redis,
    answer: story({ lead: [{ calls }, { text: 'end' }], alice: [{ text: 'ok' }] }),
    ...options,
  });
  await harness.settled(await harness.ask('go'));
  const second = harness.model.requests.filter((request) => askerOf(request) === LEAD)[1];
  return second?.messages.filter(({ role }) => role === 'tool').map(({ content }) => content ?? '') ?? [];
}

const sentByLead = async () =>
  ((await harness.reader.ledger('default', harness.sessionId, 0, 50)) ?? []).filter(({ from }) => from === LEAD);

test.each([
  [
    'an unknown recipient',
    send('alise', 'task', 'x'),
    'Not sent: nobody here is called "alise". Did you mean "alice"? You can write to: alice, bob.',
  ],
  [
    'a wrong direction',
    send('alice', 'result', 'x'),
    'Not sent: you cannot send "result" to alice. Types for alice: task, revision, clarify_resp, shutdown.',
  ],
  [
    'a type that does not exist',
    send('alice', 'shout', 'x'),
    'Not sent: you cannot send "shout" to alice. Types for alice: task, revision, clarify_resp, shutdown.',
  ],
  ['itself', send('lead', 'task', 'x'), 'Not sent: "lead" is you. You can write to: alice, bob.'],
  [
    'an oversized body',
    send('alice', 'task', 'x'.repeat(65_537)),
    'Not sent: content and context together have more than 65536 bytes. Send less, or in parts.',
  ],
  [
    'a reference to nothing',
    send('alice', 'revision', 'x', 'msg_000000000000'),
    'Not sent: inReplyTo names no message of this session. Use a msgId from your inbox, or leave it out.',
  ],
  [
    'arguments without content',
    { name: 'send_message', args: { to: 'alice', type: 'task' } },
    expect.stringContaining('Needed: to, type, content'),
  ],
  [
    'arguments that are no JSON',
    { name: 'send_message', args: '{"to": "alice", "type"' },
    expect.stringContaining('Not sent: the arguments are not right'),
  ],
])('R1: %s is an error in the tool call, and nothing is sent', async (_, call, text) => {
  expect(await outcomes([call])).toEqual([text]);
  expect(await sentByLead()).toEqual([]);
  expect((await harness.until(({ event }) => event === 'done')).filter(({ event }) => event === 'as')).toEqual([]);
});

test('R1: an agent that is missing or not ACTIVE cannot be written to', async () => {
  const told = await outcomes([send('carol', 'task', 'x'), send('ghost', 'task', 'x')], {
    team: ['alice', 'carol', 'ghost'],
    agents: [
      { id: 'carol', status: 'INACTIVE' },
      { id: 'ghost', status: 'INACTIVE' },
    ],
  });
  expect(told).toEqual([
    'Not sent: "carol" is not available now (its definition is missing or not active). You can write to: alice.',
    'Not sent: "ghost" is not available now (its definition is missing or not active). You can write to: alice.',
  ]);
});

test('R4: a full mailbox is told to the sender, and a result still gets in', async () => {
  const held = latch();
  harness = await TeamHarness.start({
    redis,
    answer: story({
      lead: [
        { calls: [send('alice', 'task', 'a'), send('alice', 'clarify_resp', 'b'), send('alice', 'clarify_resp', 'c')] },
        { text: 'wait' },
        { text: 'end' },
      ],
      alice: [{ text: 'found', after: held.opened }],
    }),
    session: { mailboxSize: 2 },
  });
  harness.holdActivations = true;
  const runId = await harness.ask('go');
  harness.holdActivations = false;
  harness.activate(harness.held[0] as never);
  const second = await harness.model.seen(
    (request) => askerOf(request) === LEAD && textOf(request).includes('queued for'),
  );
  held.open();
  const told = second.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
  expect(told.filter((text) => text?.startsWith('queued')).length).toBeGreaterThanOrEqual(2);
  expect((await harness.settled(runId)).status).toBe('completed');
});

test('R1: a second result for a task is refused, and so is a reply to a question that was withdrawn', async () => {
  const held = latch();
  harness = await TeamHarness.start({
    redis,
    answer: story({
      lead: [
        { calls: [send('alice', 'task', 'one'), wait] },
        (request) => ({
          after: held.opened,
          calls: [send('alice', 'clarify_resp', 'late answer', mailId(request, 'alice', 'clarify'))],
        }),
        { text: 'end' },
        { text: 'end' },
      ],
      alice: [
        { calls: [send('lead', 'clarify', 'q?'), { name: 'current_time', args: {} }] },
        { calls: [send('lead', 'result', 'first'), send('lead', 'result', 'second')] },
      ],
    }),
  });
  const runId = await harness.ask('go');
  await harness.until(({ event }) => event === 'ar');
  held.open();
  await harness.settled(runId);
  const told = harness.model.requests.map(textOf).join('\n');
  expect(told).toContain('Not sent: this question was withdrawn');
  const results = ((await harness.reader.ledger('default', harness.sessionId, 0, 50)) ?? []).filter(
    ({ type }) => type === 'result',
  );
  expect(results).toHaveLength(1);
});

test('R20, seed 000 §3.4: the tool lists as recipients and types only what the agent may use, and a lead without a team has no message tools', async () => {
  harness = await TeamHarness.start({ redis, answer: () => ({ text: 'alone' }), team: [] });
  await harness.settled(await harness.ask('go'));
  expect(harness.model.requests[0]?.tools?.map(({ function: { name } }) => name)).toEqual(['current_time']);
  expect(harness.model.requests[0]?.messages[0]?.content).toContain('You work alone');
});
