import { handoffPolicy } from '@mailroom/contracts';
import { deepest, denialOf, policyOf } from './handoff-policy';

const TOOL = 'subagent_bob';
const denial = (written: object, depth = 1, limits: { maxDepth?: number; cap?: number } = {}) =>
  denialOf(handoffPolicy.parse(written), TOOL, depth, { maxDepth: 1, cap: 9, ...limits });

test('contract 11: without any rule a call of the first layer may be made', () => {
  expect(denial({})).toBeUndefined();
});

test.each([
  ['allowedTools, before all', { allowedTools: ['subagent_ann'], deniedTools: [TOOL] }, 2, 'allowedTools'],
  ['deniedTools, before depth', { allowedTools: [TOOL], deniedTools: [TOOL] }, 2, 'deniedTools'],
  ['depth', { allowedTools: [TOOL] }, 2, 'depth 2 is more than maxDepth 1'],
])('contract 11: the reason names the first rule that is broken: %s', (_, written, depth, reason) => {
  expect(denial(written, depth)).toContain(reason);
});

test.each([1, 2, 5])('contract 11: a call may reach the layer maxDepth, not the one below: %d', (maxDepth) => {
  expect(denial({}, maxDepth, { maxDepth })).toBeUndefined();
  expect(denial({}, maxDepth + 1, { maxDepth })).toContain(`maxDepth ${maxDepth}`);
});

test.each([0, -1])(
  'contract 11: maxDepth %d is no limit, and the cap of the platform holds all the same',
  (maxDepth) => {
    expect(denial({}, 9, { maxDepth })).toBeUndefined();
    expect(denial({}, 10, { maxDepth })).toContain('MAX_COLLABORATION_DEPTH 9');
  },
);

test('contract 17: a policy that is not enabled denies nothing but what is beyond the cap', () => {
  const off = { enabled: false, allowedTools: ['x'], deniedTools: [TOOL] };
  expect(denial(off, 5)).toBeUndefined();
  expect(denial(off, 5, { cap: 4 })).toContain('MAX_COLLABORATION_DEPTH 4');
});

test('contract 11: a member has its own fields, then those of its team, then the defaults', () => {
  const team = handoffPolicy.parse({ timeoutMs: 10, onError: 'fallback_to_primary' });
  expect(policyOf(team, { timeoutMs: 0 })).toEqual({ ...team, timeoutMs: 0 });
  expect(policyOf(undefined, { maxRetries: 2 })).toEqual({ ...handoffPolicy.parse({}), maxRetries: 2 });
});

test.each([
  [2, 3, 2],
  [3, 2, 2],
  [0, 2, 2],
  [2, -1, 2],
  [-1, 0, 0],
])(
  'contract 18: of the limits of two layers the lower holds, and 0 or less is none: %d and %d → %d',
  (a, b, result) => {
    expect(deepest(a, b)).toBe(result);
  },
);
