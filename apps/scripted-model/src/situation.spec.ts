import { chatRequest } from './chat-request';
import { readSituation, type Situation } from './situation';
import { inboxBlock, type TestMail, toolsFor } from './testing/chat-agent';

const TASK = 'msg_0000000000aa';
const SEND = { to: 'alice', type: 'task', content: 'Do it' };
const request: TestMail = { from: 'user', type: 'task', content: 'Please' };
const question: TestMail = { from: 'alice', type: 'clarify', content: 'Which?' };
const result: TestMail = { from: 'alice', type: 'result', content: 'Done', status: 'ok', inReplyTo: TASK };

/** A lead that has given alice a task; `more` comes after that. */
function leadWith(...more: object[]): Situation {
  const call = { id: 'c1', function: { name: 'send_message', arguments: JSON.stringify(SEND) } };
  return readSituation(
    chatRequest.parse({
      messages: [
        { role: 'system', content: 'You are Boss.\nYour address in this session: lead' },
        { role: 'user', content: inboxBlock([request]) },
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: `queued for alice as ${TASK}` },
        ...more,
      ],
      tools: toolsFor(['alice', 'bob']),
    }),
  );
}

const mail = (...items: TestMail[]) => ({ role: 'user', content: inboxBlock(items) });
const text = (content: string) => ({ role: 'assistant', content });

test('a lead is known by its address, its roster by the enum of send_message', () => {
  expect(leadWith()).toMatchObject({ role: 'lead', agent: 'lead', roster: ['alice', 'bob'], open: true });
});

test('a task is open until its result, or until the facts do not list it any more', () => {
  expect(leadWith(mail(result)).open).toBe(false);
  expect(leadWith(mail({ ...result, inReplyTo: 'msg_0000000000ff' })).open).toBe(true);
  expect(leadWith({ role: 'user', content: `<facts>${TASK} alice</facts>` }).open).toBe(true);
  expect(leadWith({ role: 'user', content: '<facts>no open tasks</facts>' }).open).toBe(false);
});

test('a block and the facts table may share one user message', () => {
  const shared = { role: 'user', content: `${inboxBlock([question])}\n\n<facts>\n${TASK} alice\n</facts>` };
  expect(leadWith(shared)).toMatchObject({ facts: `${TASK} alice`, questions: [{ content: 'Which?' }] });
});

test('context is apart from content, status and late are read', () => {
  const [item] = leadWith(mail({ ...result, content: 'two\nlines', context: 'and\nthis', late: true })).fresh;
  expect(item).toMatchObject({ content: 'two\nlines', context: 'and\nthis', status: 'ok', late: true });
});

test('a new round starts with the user mail after a final answer, not after an interim one', () => {
  const follow: TestMail = { from: 'user', type: 'task', content: 'More' };
  expect(leadWith(mail(result), text('Final.'), mail(follow)).request.content).toBe('More');
  expect(leadWith(text('Interim.'), mail(follow), mail(result)).request.content).toBe('Please\nMore');
});

test('a cancelled task ends its round when the user writes again', () => {
  const again: TestMail = { from: 'user', type: 'task', content: 'Again' };
  expect(leadWith(mail({ ...result, status: 'cancelled' })).request.content).toBe('Please');
  expect(leadWith(mail({ ...result, status: 'cancelled' }, again)).request.content).toBe('Again');
});

test('a question is open until it is answered or withdrawn by a result', () => {
  const answer = { ...SEND, type: 'clarify_resp' };
  const call = { id: 'c2', function: { name: 'send_message', arguments: JSON.stringify(answer) } };
  expect(leadWith(mail(question)).questions).toHaveLength(1);
  expect(leadWith(mail(question), { role: 'assistant', tool_calls: [call] }).questions).toEqual([]);
  expect(leadWith(mail(question, result)).questions).toEqual([]);
});
