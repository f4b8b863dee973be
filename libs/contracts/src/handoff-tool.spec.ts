import * as fc from 'fast-check';
import { foldName } from './address';
import { agentDefinition, toolOf } from './agent-definition';
import { handoffToolName, TOOL_NAME } from './handoff-tool';

test.each([
  ['bob', 'subagent_bob'],
  ['market-researcher_2', 'subagent_market-researcher_2'],
])('contract 2: a plain name is its own slug: %s → %s', (name, tool) => {
  expect(handoffToolName(name)).toBe(tool);
});

test('contract 2: a name has one tool in every writing, since an address is compared that way too', () => {
  expect(handoffToolName(' BOB ')).toBe('subagent_bob');
  expect(handoffToolName('Café')).toBe(handoffToolName('CAFE\u0301'));
});

test.each([
  ['two Chinese names', '规划', '研究'],
  ['blank and underscore', 'sales eu', 'sales_eu'],
  ['dot and underscore', 'v1.2', 'v1_2'],
  ['an accent', 'Café', 'cafe'],
  ['edges', '_bob', 'bob'],
  ['the 65th letter', `${'a'.repeat(63)}b`, `${'a'.repeat(63)}c`],
  ['a name that looks like a digest', '规划', handoffToolName('规划').slice('subagent_'.length)],
])('contract 2: names that a slug cannot tell apart have tools of their own: %s', (_, one, other) => {
  expect(handoffToolName(one)).not.toBe(handoffToolName(other));
  for (const name of [one, other]) expect(handoffToolName(name)).toMatch(TOOL_NAME);
});

test('contract 2: the tool of a name never changes, so that histories stay readable after an update', () => {
  expect(['规划', 'Sales EU', 'x'.repeat(64)].map(handoffToolName)).toEqual([
    'subagent_29d38fc5',
    'subagent_sales_eu_3351917c',
    'subagent_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_7ce10097',
  ]);
});

test('contract 2: whatever the name, its tool is legal for a provider, and different names have different tools', () => {
  const name = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 64 })
    .filter((text) => agentDefinition.shape.id.safeParse(text).success);
  return fc.assert(
    fc.asyncProperty(name, name, async (one, other) => {
      expect(handoffToolName(one)).toMatch(TOOL_NAME);
      expect(handoffToolName(one) === handoffToolName(other)).toBe(foldName(one) === foldName(other));
    }),
  );
});

test('contract 2: an explicit toolName wins, and the order of a team changes no name', () => {
  const members = ['bob', '规划', { agent: 'bob', as: 'Sales EU' }, { agent: 'ann', toolName: 'ask_ann' }];
  const toolsOf = (subAgents: typeof members) =>
    agentDefinition.parse({ id: 'boss', subAgents }).subAgents.map((member) => [member.as, toolOf(member)]);
  expect(toolsOf([...members].reverse()).sort()).toEqual(toolsOf(members).sort());
  expect(Object.fromEntries(toolsOf(members))).toMatchObject({ bob: 'subagent_bob', ann: 'ask_ann' });
});

test.each([
  [
    'two members',
    [
      { agent: 'a', toolName: 'ask' },
      { agent: 'b', toolName: 'ask' },
    ],
  ],
  ['an explicit name and a slug', ['bob', { agent: 'a', toolName: 'subagent_bob' }]],
])('contract 2: a tool name twice is an error of the definition: %s', (_, subAgents) => {
  expect(agentDefinition.safeParse({ id: 'boss', subAgents }).error?.issues).toMatchObject([
    { path: ['subAgents'], message: expect.stringMatching(/two members have the tool .*toolName/) },
  ]);
});

test.each(['', '  '])('contract 1: a member without an agent is refused: "%s"', (agent) => {
  expect(agentDefinition.safeParse({ id: 'boss', subAgents: [agent] }).success).toBe(false);
  expect(agentDefinition.safeParse({ id: 'boss', subAgents: [{ agent }] }).success).toBe(false);
  expect(agentDefinition.safeParse({ id: 'boss', subAgents: [{ as: 'x' }] }).success).toBe(false);
  expect(agentDefinition.safeParse({ id: agent }).success).toBe(false);
});

test.each(['a b', 'ä', '', 'x'.repeat(65)])(
  'contract 2: a toolName that no provider takes is refused: "%s"',
  (toolName) => {
    expect(agentDefinition.safeParse({ id: 'boss', subAgents: [{ agent: 'a', toolName }] }).success).toBe(false);
  },
);
