import { handoffOverride, handoffPolicy } from './handoff-policy';

test('contract 11: a policy has nine fields, and what is not written has a default', () => {
  expect(handoffPolicy.parse({})).toEqual({
    enabled: true,
    maxDepth: 1,
    maxRetries: 0,
    timeoutMs: 0,
    allowedTools: [],
    deniedTools: [],
    onDenied: 'fail',
    onError: 'fail',
    inputFilter: [],
  });
});

test('contract 11: an override holds what is written and nothing else', () => {
  expect(handoffOverride.parse({ timeoutMs: 10 })).toEqual({ timeoutMs: 10 });
});

test.each([
  ['a name', 'redact-secrets', [{ name: 'redact-secrets', options: {} }]],
  ['a name with options', { truncate: { maxChars: 10 } }, [{ name: 'truncate', options: { maxChars: 10 } }]],
  [
    'a list',
    ['redact-secrets', { truncate: {} }],
    [
      { name: 'redact-secrets', options: {} },
      { name: 'truncate', options: {} },
    ],
  ],
])('contract 16: an input filter is written as %s', (_, inputFilter, steps) => {
  const parsed = handoffPolicy.parse({ inputFilter });
  expect(parsed.inputFilter).toEqual(steps);
  expect(handoffPolicy.parse(parsed)).toEqual(parsed);
});

test.each([
  { maxRetries: -1 },
  { timeoutMs: 1.5 },
  { onError: 'retry' },
  { inputFilter: { a: {}, b: {} } },
  { max: 1 },
])('contract 11: what means nothing is refused: %j', (written) => {
  expect(handoffPolicy.safeParse(written).success).toBe(false);
});
