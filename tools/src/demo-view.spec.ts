import { EVENT_TYPES, type EventCode, type SessionEvent } from '@mailroom/contracts';
import { createDemoView } from './demo-view';
import { usageTable } from './usage-table';

const START = Date.parse('2026-01-05T10:00:00.000Z');

function event(code: EventCode, afterMs: number, agentId: string, data: Record<string, unknown>): SessionEvent {
  const at = new Date(START + afterMs).toISOString();
  return { id: `${afterMs}-0`, event: code, type: EVENT_TYPES[code], sessionId: 's1', runId: 'r1', agentId, at, data };
}

const STORY: SessionEvent[] = [
  event('rs', 0, 'lead', { status: 'running' }),
  event('am', 10, 'user', { msgId: 'msg_aaaa00000000', from: 'user', to: 'lead', type: 'task', content: 'A report' }),
  event('t', 20, 'lead', { text: 'I give', step: 1, attempt: 1 }),
  event('am', 30, 'lead', {
    msgId: 'msg_bbbb00000000',
    inReplyTo: 'msg_aaaa00000000',
    from: 'lead',
    to: 'alice',
    type: 'task',
    content: 'Find three trends',
  }),
  event('as', 1_250, 'alice', { host: 'worker-1@here', epoch: 1, reload: false }),
  event('ts', 1_300, 'alice', { toolCallId: 'c1', name: 'lookup', arguments: { query: 'Q2  trends' }, step: 1 }),
  event('ts', 1_310, 'alice', { toolCallId: 'c2', name: 'send_message', arguments: {}, step: 1 }),
  event('ac', 1_400, 'alice', {
    msgId: 'msg_cccc00000000',
    inReplyTo: 'msg_bbbb00000000',
    from: 'alice',
    to: 'lead',
    type: 'clarify',
    content: 'Q2 only?',
  }),
  event('u', 1_410, 'alice', { model: 'm', input: 1, output: 1, latencyMs: 1 }),
  event('ax', 1_500, 'alice', { host: 'worker-1@here', epoch: 1, reason: 'released' }),
  event('as', 2_000, 'alice', { host: 'worker-2@here', epoch: 2, reload: true }),
  event('w', 2_100, 'alice', { for: 'provider', seconds: 2 }),
  event('ar', 62_000, 'alice', {
    msgId: 'msg_dddd00000000',
    inReplyTo: 'msg_bbbb00000000',
    from: 'alice',
    to: 'lead',
    type: 'result',
    status: 'partial',
    content: 'One trend',
  }),
  event('ae', 62_100, 'lead', { code: 'mailbox_full', message: 'bob has 50 messages' }),
  event('rs', 62_200, 'lead', { status: 'completed', reason: 'budget_calls' }),
  event('done', 62_201, 'lead', { status: 'completed', text: 'The report' }),
];

describe('the demo view', () => {
  it('tells who writes to whom in which thread, who is loaded where, and how the run stands', () => {
    const lines = STORY.flatMap(createDemoView({ color: false }));
    expect(`\n${lines.join('\n')}`).toBe(`
  0.00s  ● the run is running
  0.01s  ✉ user → lead          task          aaaa
           A report
  0.03s  ✉ lead → alice         task          bbbb ← aaaa
           Find three trends
  1.25s  ▶ alice is loaded on worker-1@here
  1.30s  · alice uses lookup {"query":"Q2 trends"}
  1.40s  ✉ alice → lead         clarify       cccc ← bbbb
           Q2 only?
  1.50s  ■ alice leaves: released
  2.00s  ↻ alice is loaded again, with its memory, on worker-2@here
  2.10s  … alice waits for the provider, 2 s
 62.00s  ✉ alice → lead         result, partial dddd ← bbbb
           One trend
 62.10s  ! lead: a message was refused: mailbox_full: bob has 50 messages
 62.20s  ● the run is completed (budget_calls)`);
  });

  it('gives each agent one colour and keeps the text the same', () => {
    const plain = STORY.flatMap(createDemoView({ color: false }));
    const coloured = STORY.flatMap(createDemoView({ color: true }));
    const ESC = String.fromCharCode(27);
    expect(coloured.join('\n')).toContain(`${ESC}[36mlead${ESC}[0m → ${ESC}[32malice${ESC}[0m`);
    expect(coloured.join('\n').replaceAll(new RegExp(`${ESC}\\[\\d+m`, 'g'), '')).toBe(plain.join('\n'));
  });

  it('breaks long texts and says how much is left out', () => {
    const content = `${'word '.repeat(30)}\n\n${Array.from({ length: 10 }, (_, n) => `line ${n}`).join('\n')}`;
    const lines = createDemoView({ color: false })(
      event('am', 0, 'lead', { msgId: 'msg_aaaa00000000', from: 'lead', to: 'bob', type: 'task', content }),
    );
    expect(lines).toHaveLength(7);
    expect(lines.every((line) => line.length <= 110)).toBe(true);
    expect(lines.at(-2)?.trim()).toBe('line 2');
    expect(lines.at(-1)?.trim()).toBe('… and 7 more lines');
  });
});

describe('a team by handoff in the demo view', () => {
  it('shows calls that start and end, and not the tool calls that made them', () => {
    const call = { handoffId: 'hof_1', callId: 'c1', tool: 'subagent_alice', to: 'alice#1', depth: 1 };
    const lines = [
      event('ts', 0, 'lead', { toolCallId: 'c1', name: 'subagent_alice', arguments: '{}', step: 1 }),
      event('hs', 0, 'lead', { ...call, status: 'starting' }),
      event('he', 1_500, 'lead', { ...call, status: 'completed', attempts: 2, durationMs: 1_460, content: 'x' }),
      event('he', 1_600, 'lead', { ...call, status: 'failed', attempts: 1, durationMs: 0, content: 'x' }),
    ].flatMap(createDemoView({ color: false }));
    expect(lines).toEqual([
      '  0.00s  ↳ lead calls alice#1 with subagent_alice',
      '  1.50s  ↲ the call of alice#1 by lead is completed, 2 attempts, 1.5 s',
      '  1.60s  ↲ the call of alice#1 by lead is failed, 0.0 s',
    ]);
  });
});

describe('the usage table', () => {
  const totals = (
    calls: number,
    input: number,
    output: number,
    priced: { cost?: number; unpricedCalls?: number } = {},
  ) => ({
    ...{ calls, input, output, cached: 0, reasoning: 0, unpricedCalls: 0, failedCalls: 0, lostCalls: 0 },
    ...priced,
  });

  it('has a line for each agent that called a model, with its own and its tree, and one for all', () => {
    const lines = usageTable({
      byInstance: [
        { instance: 'lead', agent: 'x', own: totals(7, 12_345, 678), tree: totals(9, 12_445, 683) },
        { instance: 'alice#1', agent: 'x', parent: 'lead', own: totals(2, 100, 5), tree: totals(2, 100, 5) },
      ],
      tree: totals(9, 12_445, 683),
    });
    expect(`\n${lines.join('\n')}`).toBe(`
agent    calls  tokens in  tokens out  cost  tree: calls  tokens in  tokens out  cost
─────────────────────────────────────────────────────────────────────────────────────
lead         7     12,345         678     -            9     12,445         683     -
alice#1      2        100           5     -            2        100           5     -
─────────────────────────────────────────────────────────────────────────────────────
all          9     12,445         683     -`);
  });

  it('shows a cost where prices are known, and says of a tree with a part that has none that it is at least so much', () => {
    const alice = totals(1, 1, 1, { cost: 0.5 });
    const tree = totals(2, 2, 2, { cost: 0.5, unpricedCalls: 1 });
    const lines = usageTable({
      byInstance: [
        { instance: 'lead', agent: 'x', own: totals(1, 1, 1, { unpricedCalls: 1 }), tree },
        { instance: 'alice', agent: 'x', own: alice, tree: alice },
      ],
      tree,
    });
    expect(lines[2]?.split(/ {2,}/)).toEqual(['lead', '1', '1', '1', '-', '2', '2', '2', '≥ $0.5000']);
    expect(lines[3]?.split(/ {2,}/)).toEqual(['alice', '1', '1', '1', '$0.5000', '1', '1', '1', '$0.5000']);
  });
});
