import { agentName, nearestName } from './address';

describe('agent names', () => {
  it.each(['alice', 'Sales EU', 'Sales.EU', '规划', '分析 エージェント', 'a'])('takes %p as written', (name) => {
    expect(agentName.parse(name)).toBe(name);
  });

  it.each(['', '  ', 'a:b', 'a{b}', 'a#1', 'x'.repeat(65), 'Lead', ' user ', 'SYSTEM', 'two\nlines'])(
    'refuses %p',
    (name) => {
      expect(agentName.safeParse(name).success).toBe(false);
    },
  );

  it('composes decomposed letters and trims', () => {
    expect(agentName.parse(' Zoe\u0308 ')).toBe('Zo\u00eb');
  });

  it('R1: finds the nearest name for a misspelt one and nothing for a stranger', () => {
    expect(nearestName('team_lead', ['team-lead', 'alice'])).toBe('team-lead');
    expect(nearestName('alise', ['alice', 'bob'])).toBe('alice');
    expect(nearestName('zzzzzz', ['alice', 'bob'])).toBeUndefined();
  });
});
