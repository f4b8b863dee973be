import { chatRequest } from './chat-request';
import { parseRules } from './load-rules';
import { matchRule } from './match-rule';
import { readSituation, type Situation } from './situation';
import { fillTemplate } from './template';
import { inboxBlock, toolsFor } from './testing/chat-agent';

const TASK = 'msg_0000000000aa';

/** alice in the middle of a task: she has looked up, asked, and has an answer, which is new. */
function situation(): Situation {
  const call = (id: string, name: string, args: object) => ({
    id,
    function: { name, arguments: JSON.stringify(args) },
  });
  return readSituation(
    chatRequest.parse({
      messages: [
        { role: 'system', content: 'You are alice, an analyst.\nYour address in this session: alice' },
        {
          role: 'user',
          content: inboxBlock([
            { from: 'lead', type: 'task', content: 'Compute 3 + 4', msgId: TASK, context: 'for Q2' },
          ]),
        },
        { role: 'assistant', content: 'I look.', tool_calls: [call('c1', 'lookup', { query: 'x' })] },
        { role: 'tool', tool_call_id: 'c1', content: 'found it' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [call('c2', 'send_message', { to: 'lead', type: 'clarify', content: 'Which?' })],
        },
        { role: 'tool', tool_call_id: 'c2', content: 'queued for lead as msg_0000000000bb' },
        {
          role: 'user',
          content: inboxBlock([
            { from: 'lead', type: 'clarify_resp', content: 'This one.', inReplyTo: 'msg_0000000000bb' },
          ]),
        },
      ],
      tools: toolsFor(['lead'], ['lookup']),
    }),
  );
}

const when = (condition: object, more: object = {}) => {
  const [rule] = parseRules([{ name: 'x', say: 'x', when: condition, ...more }], 'test');
  return rule && matchRule(rule, situation());
};

test.each([
  [{ role: 'sub-agent', agent: ['alice', 'bob'] }],
  [{ tools: ['lookup', 'send_message'], open: true }],
  [{ request: 'COMPUTE', steps: { min: 2, max: 2 } }],
  [{ has: [{ used: 'lookup', text: 'found' }, { sent: 'clarify', to: 'lead' }, { said: 'interim' }] }],
  [{ fresh: [{ got: 'clarify_resp', from: 'lead', text: 'this one' }] }],
  [{ ever: [{ got: '*' }], lacks: [{ used: 'calculate' }, { said: 'final' }] }],
  [{ text: 'an analyst' }],
])('%j holds', (condition) => {
  expect(when(condition)).toBeDefined();
});

test.each([
  [{ role: 'lead' }],
  [{ agent: 'bob' }],
  [{ tools: ['calculate'] }],
  [{ tools: 'none' }],
  [{ roster: 'some' }],
  [{ open: false }],
  [{ request: 'divide' }],
  [{ has: [{ used: 'calculate' }] }],
  [{ lacks: [{ used: '*' }] }],
  [{ fresh: [{ got: 'task' }] }],
  [{ question: {} }],
  [{ engine: '.' }],
  [{ facts: '.' }],
  [{ steps: { max: 1 } }],
])('%j does not hold', (condition) => {
  expect(when(condition)).toBeUndefined();
});

test('a rule that calls a tool which is not offered does not apply', () => {
  expect(when({}, { call: [{ tool: 'lookup' }] })).toBeDefined();
  expect(when({}, { call: [{ tool: 'lookup' }, { tool: 'calculate' }] })).toBeUndefined();
});

test('templates read the request, bindings with fields, and groups of the request', () => {
  const bindings = when({ request: '(?<sum>\\d \\+ \\d)', has: [{ used: 'lookup', as: 'source' }] });
  const text = '{{agent}} {{request.msgId}} {{ request.context }} {{source}} {{source.name}} {{match.sum}}';
  expect(fillTemplate(text, situation(), bindings ?? new Map())).toBe(`alice ${TASK} for Q2 found it lookup 3 + 4`);
});

test('a placeholder inside of a quoted text stays as it is', () => {
  const item = { ...situation().request, content: '{{agent}} $& {{request}}' };
  expect(fillTemplate('{{quoted}}', situation(), new Map([['quoted', item]]))).toBe('{{agent}} $& {{request}}');
});

test('R17: a late result matches only a pattern that asks for late ones', () => {
  const late = chatRequest.parse({
    messages: [
      { role: 'system', content: 'Your address in this session: lead' },
      { role: 'user', content: inboxBlock([{ from: 'bob', type: 'result', content: 'x', late: true }]) },
    ],
  });
  const fits = (pattern: object) => {
    const [rule] = parseRules([{ name: 'x', say: 'x', when: { has: [pattern] } }], 'test');
    return rule && matchRule(rule, readSituation(late));
  };
  expect(fits({ got: 'result' })).toBeUndefined();
  expect(fits({ got: 'result', late: true })).toBeDefined();
});
