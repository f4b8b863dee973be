import type { AgentMessage, AssistantEntry, JournalEntry } from '@mailroom/contracts';
import { Memory } from '../memory';
import { inboxWith } from '../testing/inbox';
import { planCompaction } from './compaction';
import { outgrows } from './context-window';
import { openMessages } from './open-messages';
import { readMessage, readTools } from './read-message';

const WINDOW = 4_000;
const frame = { model: 'm', system: 'system', tools: [], tail: undefined };
const text = (tokens: number) => 'river '.repeat(tokens);

const message = (msgId: string, fields: Partial<AgentMessage>): AgentMessage => ({
  msgId,
  from: 'lead',
  to: 'alice',
  type: 'task',
  content: `content of ${msgId}`,
  ts: '',
  seq: 1,
  ...fields,
});
const answer = (fields: Partial<AssistantEntry> = {}): AssistantEntry => ({
  kind: 'assistant',
  step: 1,
  runId: 'run',
  openTasks: [],
  content: '',
  toolCalls: [],
  model: 'm',
  usage: { input: 0, output: 0 },
  ...fields,
});
const call = (id: string, args: object = {}) => ({ id, name: 'send_message', arguments: JSON.stringify(args) });
const result = (callId: string, tokens = 1): JournalEntry => ({ kind: 'tool', callId, content: text(tokens) });
const remember = (entries: JournalEntry[], ...messages: AgentMessage[]) => {
  const memory = new Memory();
  memory.take(inboxWith({ entries, messages: new Map(messages.map((mail) => [mail.msgId, mail])) }));
  return memory;
};

test('R22: no cut falls between an answer and its results, whatever came between them', () => {
  for (let size = 100; size <= 900; size += 100) {
    const entries: JournalEntry[] = [];
    for (let step = 1; step <= 6; step++)
      entries.push(
        answer({ step, content: text(50), toolCalls: [call('a'), call('b')] }),
        result('a', size),
        { kind: 'mail', ids: [] },
        { kind: 'engine', code: 'limit', text: text(20) },
        result('b', size),
        { kind: 'mail', ids: [] },
      );
    const plan = planCompaction(inboxWith(), remember(entries), frame, WINDOW);
    expect(plan).toBeDefined();
    const kept = entries.slice(plan?.upTo);
    const orphans = kept
      .slice(
        0,
        kept.findIndex(({ kind }) => kind === 'assistant'),
      )
      .filter((e) => e.kind === 'tool');
    expect(orphans).toEqual([]);
    expect(plan?.upTo).toBeGreaterThan(0);
  }
});

test('R22: what came after the last answer, and an answer with an open call, are not taken', () => {
  const entries: JournalEntry[] = [
    answer({ content: text(3_000) }),
    { kind: 'mail', ids: ['msg_1'] },
    { kind: 'mail', ids: ['msg_1'] },
  ];
  const mail = message('msg_1', { content: text(900) });
  expect(planCompaction(inboxWith(), remember(entries, mail), frame, WINDOW)?.upTo).toBe(1);
  expect(planCompaction(inboxWith(), remember(entries.slice(1), mail), frame, WINDOW)).toBeUndefined();
  const waiting = [
    answer({ content: text(1_000) }),
    answer({ content: text(1_000), toolCalls: [call('open'), call('b')] }),
    result('b', 900),
    answer({ content: text(2_000) }),
  ];
  expect(planCompaction(inboxWith({ openCalls: ['open'] }), remember(waiting), frame, WINDOW)?.upTo).toBe(1);
});

test('R22: open tasks, revisions, questions and the words of the user in this run are kept, what is done is not', () => {
  const sent = (callId: string, msgId: string, to: string, type: string): JournalEntry => ({
    kind: 'sent',
    callId,
    code: 'ok',
    msgId,
    to,
    type,
  });
  const send = (to: string, type: string) => ({ to, type, content: `${type} to ${to}` });
  const entries: JournalEntry[] = [
    { kind: 'mail', ids: ['msg_old'] },
    answer({ runId: 'before', toolCalls: [call('1', send('alice', 'task'))] }),
    sent('1', 'msg_done', 'alice', 'task'),
    { kind: 'mail', ids: ['msg_user', 'msg_answered', 'msg_asked'] },
    answer({
      toolCalls: [
        call('1', send('alice', 'task')),
        call('2', send('alice', 'revision')),
        call('3', send('bob', 'revision')),
      ],
    }),
    sent('1', 'msg_open', 'alice', 'task'),
    sent('2', 'msg_amends', 'alice', 'revision'),
    sent('3', 'msg_other', 'bob', 'revision'),
    { kind: 'mail', ids: ['msg_later'] },
  ];
  const user = (id: string) => message(id, { from: 'user', to: 'lead' });
  const asks = (id: string) => message(id, { from: 'alice', to: 'lead', type: 'clarify' });
  const memory = remember(
    entries,
    user('msg_old'),
    user('msg_user'),
    asks('msg_asked'),
    asks('msg_answered'),
    user('msg_later'),
  );
  const now = inboxWith({
    tasks: [{ id: 'msg_open', agentId: 'alice', runId: 'run', openedAt: '', read: true }],
    questions: [{ id: 'msg_asked', from: 'alice', to: 'lead', askedAt: '' }],
  });
  expect(openMessages(now, memory, 8)).toEqual(['msg_user', 'msg_asked', 'msg_open', 'msg_amends']);
});

test('R22: the figure of the provider counts, unless it cannot be right', () => {
  const entries = (input: number): JournalEntry[] => [
    answer({ content: text(2_000) }),
    answer({ usage: { input, output: 1 }, content: text(500) }),
  ];
  // About 2,500 tokens by the platform's count, in 15,000 bytes; 3,000 are allowed.
  expect(outgrows(frame, remember(entries(2_300)), WINDOW)).toBe(false);
  expect(outgrows(frame, remember(entries(2_800)), WINDOW)).toBe(true);
  expect(outgrows(frame, remember(entries(10)), WINDOW)).toBe(false);
  expect(outgrows(frame, remember(entries(900_000)), WINDOW)).toBe(false);
});

test('R22: read_message reads messages, their context and results again, and is offered only when something may be cut', () => {
  const mail = message('msg_0000000000a1', { content: 'x<inbox>y', context: text(2_000) });
  const memory = remember(
    [
      { kind: 'mail', ids: [mail.msgId] },
      answer({ step: 1, toolCalls: [call('c')] }),
      { kind: 'tool', callId: 'c', content: 'first' },
      answer({ step: 2, toolCalls: [call('c')] }),
      { kind: 'tool', callId: 'c', content: 'second' },
    ],
    mail,
  );
  const read = (args: unknown) =>
    readMessage({ id: 'r', name: 'read_message', arguments: JSON.stringify(args) }, memory, WINDOW);
  expect(read({ id: mail.msgId }).content).toMatch(
    /^\[characters 0 to 9 of 9\. This is the end\.\]\n<inbox>\n<message from="lead".*>\nx&lt;inbox>y\n<\/message>/,
  );
  expect(read({ id: 'c' }).content).toContain('\nsecond');
  expect(read({ id: 'c@1' }).content).toContain('\nfirst');
  const piece = read({ id: `${mail.msgId}.context`, offset: '6000' }).content;
  expect(piece).toMatch(/^\[characters 6000 to \d+ of 12000\. Next: offset \d+\.\]\n<inbox>\n<message .*>\nriver /);
  expect(read({ id: 'c', offset: 50 })).toMatchObject({ error: true });
  expect(read({ id: 'none' })).toMatchObject({ error: true, content: expect.stringContaining('"none"') });
  expect(read({})).toMatchObject({ error: true });
  expect(readTools(memory, WINDOW)).toHaveLength(1);
  expect(readTools(memory, undefined)).toEqual([]);
  expect(readTools(remember([{ kind: 'tool', callId: 'c', content: 'short' }]), WINDOW)).toEqual([]);
});
