import { LEAD } from '@mailroom/contracts';
import { type ModelAnswer, ModelError, PriceTable } from '@mailroom/llm';
import type { Inbox } from '@mailroom/mailbox';
import { answeredCall, failedCall } from './call-record';
import type { Seat } from './team';

const prices = new PriceTable({ asked: { input: 1_000, output: 2_000 } });
const answer: ModelAnswer = {
  content: 'text',
  toolCalls: [],
  usage: { input: 100, output: 10, cached: 40, reasoning: 5 },
  model: 'told',
  responseId: 'answer-1',
  latencyMs: 12.4,
  attempts: 2,
};
const task = { agentId: 'bob', runId: 'run_1', openedAt: '', read: true };
const inbox = {
  step: 4,
  tasks: [
    { ...task, id: 'msg_unread', read: false },
    { ...task, id: 'msg_first' },
    { ...task, id: 'msg_second' },
  ],
} as unknown as Inbox;

/** `instance`: of an agent that was called as a tool. */
function callerAt(address: string, instance?: { agent: string; caller: string }) {
  const membership = { leadAgentId: 'boss', roster: [{ as: 'bob', agent: 'robert' }], instance };
  const role = address === LEAD ? 'lead' : 'sub-agent';
  const seat = {
    address,
    role,
    membership,
    reports: instance !== undefined,
    caller: instance?.caller,
  } as unknown as Seat;
  return { seat, inbox, model: 'asked' };
}

describe('R21: the record of a call', () => {
  test('says who made it, for which task, with what the server told and what it cost', () => {
    expect(answeredCall(callerAt('bob'), answer, prices)).toEqual({
      agent: 'robert',
      instance: 'bob',
      taskId: 'msg_first',
      step: 5,
      model: 'told',
      status: 'ok',
      attempts: 2,
      responseId: 'answer-1',
      input: 100,
      output: 10,
      cached: 40,
      reasoning: 5,
      cost: 0.12,
      latencyMs: 12,
    });
  });

  test.each([
    [LEAD, undefined, { agent: 'boss' }],
    ['bob#2', { agent: 'robert', caller: LEAD }, { agent: 'robert', parent: LEAD, taskId: 'msg_first' }],
    ['bob#2/leaf', { agent: 'reader', caller: 'bob#2' }, { agent: 'reader', parent: 'bob#2', taskId: 'msg_first' }],
  ])('names the definition and the caller of %s', (address, given, expected) => {
    const { agent, instance, parent, taskId } = answeredCall(callerAt(address, given), answer, prices);
    expect({ agent, instance, parent, taskId }).toEqual({ instance: address, ...expected });
  });

  test('has neither tokens nor a cost when the server told no usage', () => {
    const record = answeredCall(callerAt(LEAD), { ...answer, usage: { input: 0, output: 0 } }, prices);
    for (const field of ['input', 'output', 'cost']) expect(record).not.toHaveProperty(field);
  });

  test('has no cost for a model without a price', () => {
    expect(answeredCall(callerAt(LEAD), answer, new PriceTable())).not.toHaveProperty('cost');
  });

  test('of a failed call has the model that was asked for, and nothing that nobody knows', () => {
    const error = new ModelError('model_timeout', 'too late');
    error.attempts = 3;
    expect(failedCall(callerAt(LEAD), error)).toEqual({
      agent: 'boss',
      instance: LEAD,
      step: 5,
      model: 'asked',
      status: 'failed',
      attempts: 3,
    });
  });
});
