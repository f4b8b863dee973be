import { agentDefinition } from '@mailroom/contracts';
import { addressOf, calleesOf } from './callees';

const definition = (id: string, more: object = {}) => agentDefinition.parse({ id, ...more });
const called = (leader: object, members: ReturnType<typeof definition>[], level = { depth: 0, maxDepth: 0 }) => {
  const lead = definition('boss', leader);
  return calleesOf(lead, lead.subAgents, members, level);
};

test('contract 1: a blank description becomes one that names the sub-agent', () => {
  const found = called({ subAgents: ['bob', { as: 'Sales EU', agent: 'bob' }] }, [
    definition('bob', { description: '  ' }),
    definition('bob', { description: 'Sells.' }),
  ]);
  expect(found.map(({ description }) => description)).toEqual([
    'Delegate a specialised task to sub-agent bob',
    'Sells.',
  ]);
});

test('contract 1: a member without an active definition is no tool', () => {
  const lead = definition('boss', { subAgents: ['bob', 'ann'] });
  const off = definition('ann', { status: 'INACTIVE' });
  expect(calleesOf(lead, lead.subAgents, [undefined, off], { depth: 0, maxDepth: 0 })).toEqual([]);
});

test('contract 18: a layer may call one further, within the lowest limit on the way', () => {
  const [bob] = called({ subAgents: ['bob'], handoff: { maxDepth: 5 } }, [definition('bob')], {
    depth: 1,
    maxDepth: 2,
  });
  expect(bob).toMatchObject({ depth: 2, maxDepth: 2 });
});

test('contract 23: each call has an address of its own, under that of its caller; a reused colleague has one', () => {
  const [bob, ann] = called({ subAgents: ['bob', { agent: 'ann', sessionMode: 'reuse' }] }, [
    definition('bob'),
    definition('ann'),
  ]);
  if (!bob || !ann) throw new Error('both are callees');
  expect([1, 2].map((number) => addressOf(bob, 'lead', number))).toEqual(['bob#1', 'bob#2']);
  expect(addressOf(bob, 'eve#1', 1)).toBe('eve#1/bob#1');
  expect([addressOf(ann, 'lead', 1), addressOf(ann, 'eve#1', 2)]).toEqual(['ann', 'eve#1/ann']);
});
