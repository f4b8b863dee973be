import { readHandoffInput } from './handoff-arguments';

test.each([
  ['nothing', '', { task: '' }],
  ['blanks', ' \n ', { task: '' }],
  ['an empty object', '{}', { task: '' }],
  ['text that is no JSON', ' find the news ', { task: 'find the news' }],
  ['JSON that is cut off', '{"task": "find', { task: '{"task": "find' }],
  ['a list', '["a", "b"]', { task: '["a", "b"]' }],
  ['a task', '{"task": "find"}', { task: 'find' }],
  ['an input', '{"input": "find"}', { task: 'find' }],
  ['both', '{"input": "no", "task": "find"}', { task: 'find' }],
  ['a blank task and an input', '{"task": " ", "input": "find"}', { task: 'find' }],
  ['other names', '{"query": "find"}', { task: '{"query": "find"}' }],
  ['a task that is an object', '{"task": {"query": "find"}}', { task: '{"query":"find"}' }],
  ['a context', '{"task": "find", "context": "of June"}', { task: 'find', context: 'of June' }],
  ['a blank context', '{"task": "find", "context": " "}', { task: 'find' }],
  ['a context that is a list', '{"task": "find", "context": [1, 2]}', { task: 'find', context: '[1,2]' }],
])('contract 5: arguments that are %s', (_, text, input) => {
  expect(readHandoffInput(text)).toEqual(input);
});
