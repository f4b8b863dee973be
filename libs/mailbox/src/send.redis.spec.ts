import { LEAD } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import type { Letter } from './mailbox';
import { BenchSession } from './testing/bench-session';

const redis = testRedis();
let session: BenchSession;
afterEach(() => session.close());

const open = async (settings = {}) => {
  session = await BenchSession.open({ redis, settings });
};
/** What a refused send answers, and that it has left no trace. */
async function refused(from: string, to: string, type: string, more: Partial<Letter> = {}): Promise<string> {
  const before = await session.dump();
  const error = await session.send(from, to, type, more).then(
    () => new Error('accepted'),
    (thrown: Error) => thrown,
  );
  expect(await session.dump()).toEqual(before);
  return error.message;
}

test('a user message starts a run, schedules the lead, and names the activation to enqueue', async () => {
  await open();
  const receipt = await session.ask({ msgId: 'msg_000000000001' });
  expect(receipt).toEqual({ msgId: 'msg_000000000001', seq: 1, runId: 'run_000000000001' });
  expect(await session.session()).toMatchObject({ run: receipt.runId, runStatus: 'queued' });
  expect(await session.run(receipt.runId)).toMatchObject({ status: 'queued', msgId: receipt.msgId });
  expect(session.activations).toEqual([{ sessionId: session.id, agent: LEAD, epoch: 1 }]);
  expect(await session.agent(LEAD)).toMatchObject({ st: 'scheduled', epoch: '1', wake: '1', urgent: '1' });
  expect(await session.dueKinds(LEAD)).toEqual(['job']);
  expect(await session.mail(LEAD)).toEqual([`u${receipt.msgId}`]);
  expect((await session.events()).map(({ code, agent }) => [code, agent])).toEqual([
    ['rs', LEAD],
    ['am', 'user'],
  ]);
});

test.each([
  ['somebody who is not in the session', ['user', 'zed', 'task'], 'the recipient is not a member of the session'],
  ['oneself', ['alice', 'alice', 'clarify'], 'self_addressed'],
  ['a sub-agent from the user', ['user', 'alice', 'task'], 'wrong_direction'],
  ['a peer with a task', ['alice', 'bob', 'task'], 'wrong_direction'],
  ['the lead with a task', ['alice', LEAD, 'task'], 'wrong_direction'],
  ['a peer with a result', ['alice', 'bob', 'result'], 'wrong_direction'],
  ['a sub-agent with a notice', [LEAD, 'alice', 'notice'], 'wrong_direction'],
  ['anybody of a type that does not exist', [LEAD, 'alice', 'order'], 'wrong_direction'],
] as const)('R1: a message to %s is refused and leaves no key', async (_, [from, to, type], reason) => {
  await open();
  expect(await refused(from, to, type)).toContain(reason);
});

test('R1: a refused user message starts no run', async () => {
  await open();
  expect(await refused('user', LEAD, 'task', { inReplyTo: 'msg_00000000dead' })).toContain('unknown_reference');
  await session.ask();
  expect(await refused('user', 'zed', 'task')).toContain('not a member');
});

test('a closed session takes no message', async () => {
  await open();
  await session.mailbox.closeSession(session.id);
  expect(await refused('user', LEAD, 'task')).toContain('the session has ended');
});

test('R3: the same id again changes nothing and gets the same answer, before anything else is tested', async () => {
  await open();
  const letter = { msgId: 'msg_000000000001', onBusy: 'reject' } as const;
  const first = await session.ask(letter);
  const before = await session.dump();
  expect(await session.ask(letter)).toEqual(first);
  await expect(session.ask({ ...letter, content: 'other words' })).rejects.toMatchObject({
    code: 'idempotency_conflict',
  });
  expect(await session.dump()).toEqual(before);
  expect(session.activations).toEqual(
    Array(2).fill({ sessionId: session.id, agent: LEAD, epoch: 1 }) /* named again: the enqueue may be what got lost */,
  );
  await session.mailbox.closeSession(session.id);
  expect(await session.ask(letter)).toEqual(first);
});

test('R3: the same words under the same id are the same message, wherever in a trace they were sent from', async () => {
  await open();
  const from = (span: string) => `00-${'1'.repeat(32)}-${span.repeat(16)}-01`;
  const letter = { msgId: 'msg_000000000001', content: 'words', traceparent: from('a') };
  const first = await session.ask(letter);
  expect(await session.ask({ ...letter, traceparent: from('b') })).toEqual(first);
  expect(await session.ask({ msgId: letter.msgId, content: 'words' })).toEqual(first);
  await expect(session.ask({ ...letter, content: 'word' })).rejects.toMatchObject({ code: 'idempotency_conflict' });
  const plain = { msgId: 'msg_000000000002', content: 'words' };
  const second = await session.ask(plain);
  expect(await session.ask({ ...plain, traceparent: from('a') })).toEqual(second);
});

test('R3: a repeated message to an agent that is loaded names no activation', async () => {
  await open();
  const letter = { msgId: 'msg_000000000001' };
  await session.ask(letter);
  await session.load(LEAD);
  await session.ask(letter);
  expect(session.activations).toHaveLength(1);
});

test('R2: an agent reads oldest first, whoever sent it', async () => {
  await open();
  const sent = [await session.ask(), await session.ask()];
  sent.push(
    await session.send('alice', LEAD, 'clarify'),
    await session.ask(),
    await session.send('bob', LEAD, 'clarify'),
  );
  const lead = await session.wake(LEAD);
  expect(await session.read(LEAD)).toEqual(sent.map(({ msgId }) => msgId));
  expect(sent.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  expect([...(lead.inbox?.messages.values() ?? [])].map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
});

describe('R4: a mailbox that is full', () => {
  const fill = async () => {
    await open({ mailboxSize: 3 });
    await session.send(LEAD, 'alice', 'task');
    await session.send('bob', 'alice', 'clarify');
    await session.send('bob', 'alice', 'clarify');
  };

  test('refuses a message with mailbox_full, and nothing is dropped', async () => {
    await fill();
    expect(await refused(LEAD, 'alice', 'task')).toContain('the mailbox is full');
    expect(await refused('bob', 'alice', 'progress')).toContain('the mailbox is full');
  });

  test('takes results, shutdowns and what the engine makes all the same', async () => {
    await open({ mailboxSize: 1 });
    const one = await session.send(LEAD, 'alice', 'task');
    const two = await session.send(LEAD, 'bob', 'task');
    await session.ask();
    await session.wake('alice');
    await session.send('alice', LEAD, 'result', { inReplyTo: one.msgId });
    await session.mailbox.cancelAgent(session.id, 'bob', 'enough');
    expect((await session.messages()).filter(({ type }) => type === 'result').map((m) => m.inReplyTo)).toEqual([
      one.msgId,
      two.msgId,
    ]);
    expect(await session.mail(LEAD)).toHaveLength(3);
    await session.send(LEAD, 'alice', 'task');
    expect(await session.send(LEAD, 'alice', 'shutdown')).toMatchObject({ seq: 3 });
  });

  test('moves superseded progress to the dead letters first; the latest of each sender and task stays', async () => {
    await open({ mailboxSize: 5 });
    await session.ask();
    const task = await session.send(LEAD, 'alice', 'task');
    await (await session.wake('alice')).park();
    const about = { inReplyTo: task.msgId };
    const old = [
      await session.send('alice', LEAD, 'progress', about),
      await session.send('alice', LEAD, 'progress', about),
    ];
    const kept = [
      await session.send('alice', LEAD, 'progress', about),
      await session.send('bob', LEAD, 'progress'),
      await session.send('bob', LEAD, 'clarify'),
    ];
    expect(await session.deadLetters()).toEqual(old.map(({ msgId }) => msgId));
    expect((await session.mail(LEAD)).map((entry) => entry.slice(1)).slice(1)).toEqual(kept.map(({ msgId }) => msgId));
    expect((await session.events('ae')).map(({ data }) => [data.code, data.msgId])).toEqual(
      old.map(({ msgId }) => ['superseded', msgId]),
    );
    await session.send('bob', LEAD, 'clarify');
    expect(await refused('bob', LEAD, 'clarify')).toContain('the mailbox is full');
  });

  test('leaves progress where it is when that would not make room', async () => {
    await open({ mailboxSize: 2 });
    await session.ask();
    await session.send('bob', LEAD, 'progress');
    await session.setSession('mailboxSize', 9);
    await session.send('bob', LEAD, 'progress');
    await session.send('bob', LEAD, 'clarify');
    await session.send('bob', LEAD, 'clarify');
    await session.setSession('mailboxSize', 2);
    expect(await refused('bob', LEAD, 'clarify')).toContain('the mailbox is full');
  });

  test('takes a user message when superseded progress makes room', async () => {
    await open({ mailboxSize: 3 });
    await session.ask();
    await session.send('bob', LEAD, 'progress');
    await session.send('bob', LEAD, 'progress');
    await expect(session.ask()).resolves.toMatchObject({ seq: 4 });
    expect(await session.deadLetters()).toHaveLength(1);
  });
});

describe('waking', () => {
  const flags = async (name: string) => (await session.mail(name)).map((entry) => entry[0]).join('');

  test('what wakes a sub-agent is any type but progress', async () => {
    await open();
    await session.send('bob', 'alice', 'progress');
    expect(await session.agent('alice')).toMatchObject({ seq: '1' });
    expect((await session.agent('alice')).st).toBeUndefined();
    expect(session.activations).toEqual([]);
    await session.send('bob', 'alice', 'clarify');
    await session.send(LEAD, 'alice', 'clarify_resp');
    await session.send(LEAD, 'alice', 'task');
    await session.send(LEAD, 'alice', 'revision');
    expect(await flags('alice')).toBe('pwwww');
    expect(session.activations).toEqual([{ sessionId: session.id, agent: 'alice', epoch: 1 }]);
  });

  test('R17: outside a run nothing but the user wakes the lead, and it reads the rest in the next run', async () => {
    await open();
    await session.send('bob', LEAD, 'clarify');
    await session.send('bob', LEAD, 'progress');
    expect(await flags(LEAD)).toBe('np');
    expect(session.activations).toEqual([]);
    await session.ask();
    await session.wake(LEAD);
    expect(await session.read(LEAD)).toHaveLength(3);
  });

  test('in a run questions and failures wake the lead at once, a good result wakes one that waits for each', async () => {
    await open();
    const tasks = [await session.send(LEAD, 'alice', 'task'), await session.send(LEAD, 'bob', 'task')];
    await session.ask();
    await session.wake('alice');
    await session.send('alice', LEAD, 'result', { inReplyTo: tasks[0]?.msgId ?? '' });
    await session.send('bob', LEAD, 'clarify');
    await session.mailbox.cancelAgent(session.id, 'bob', 'enough');
    expect(await flags(LEAD)).toBe('uwuu');
    expect(await session.agent(LEAD)).toMatchObject({ wake: '4', urgent: '3' });
  });

  test('R14: a lead that waits for all is woken by the last result, or by a question', async () => {
    await open({ wakeOn: 'all' });
    const lead = await session.startRun();
    const alice = await lead.send('alice', 'task');
    const bob = await lead.send('bob', 'task');
    await lead.park();
    expect(await lead.exit()).toBe(true);
    await Promise.all([session.wake('alice'), session.wake('bob')]);
    await session.send('alice', LEAD, 'result', { inReplyTo: alice.msgId });
    expect((await session.agent(LEAD)).st).toBe('unloaded');
    await session.send('bob', LEAD, 'result', { inReplyTo: bob.msgId });
    expect((await session.agent(LEAD)).st).toBe('scheduled');
  });

  test('R18: onBusy reject stores nothing while a run is on; the default steers the run that is on', async () => {
    await open();
    const first = await session.ask({ onBusy: 'reject' });
    expect(await refused('user', LEAD, 'task', { onBusy: 'reject' })).toContain(first.runId);
    expect((await session.ask()).runId).toBe(first.runId);
  });
});
