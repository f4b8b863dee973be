import type { AgentMessage, JournalEntry } from '@mailroom/contracts';
import type { Evidence, Happening } from '../evidence';
import type { SessionRecord } from '../session-record';
import { ALL_CHECKS } from './all-checks';

const at = '2026-01-01T00:00:00.000Z';
const letter = (msgId: string, from: string, to: string, more: object = {}) =>
  [msgId, { msgId, from, to, type: 'task', content: 'x', ts: at, seq: 1, ...more }] as const;
const mail = (...ids: string[]): JournalEntry => ({ kind: 'mail', ids });
const answer = (step: number, ...calls: string[]): JournalEntry => ({
  kind: 'assistant',
  step,
  runId: 'run_1',
  openTasks: [],
  content: 'said',
  toolCalls: calls.map((id) => ({ id, name: 'effect_once', arguments: '{}' })),
  model: 'm',
  usage: { input: 1, output: 1 },
});
const result = (callId: string): JournalEntry => ({ kind: 'tool', callId, content: 'done' });

const report = (callId: string, id: string): JournalEntry => ({
  kind: 'handoff',
  callId,
  outcome: 'completed',
  tool: 'subagent_bob',
  to: 'bob#1',
  ids: [id],
  attempts: 1,
  steps: 1,
});

/** A session in which all is well: a user asks, the lead gives alice a task, she uses a tool and reports; then it calls bob. */
function soundSession(): SessionRecord {
  return {
    id: 'ses_1',
    fields: {},
    agents: [
      {
        name: 'lead',
        fields: { st: 'unloaded' },
        mailbox: [],
        journal: [mail('m1'), answer(1), mail('m3'), answer(2, 'h1'), report('h1', 'm6'), answer(3)],
      },
      { name: 'alice', fields: {}, mailbox: [], journal: [mail('m2'), answer(1, 'c1'), result('c1'), answer(2)] },
      { name: 'bob#1', fields: {}, mailbox: [], journal: [mail('m5'), answer(1)] },
    ],
    ledger: new Map([
      letter('m1', 'user', 'lead'),
      letter('m2', 'lead', 'alice'),
      letter('m3', 'alice', 'lead', { type: 'result', inReplyTo: 'm2', seq: 2 }),
      letter('m5', 'lead', 'bob#1'),
      letter('m6', 'bob#1', 'lead', { type: 'result', inReplyTo: 'm5', seq: 3 }),
    ]) as SessionRecord['ledger'],
    dead: [],
    openTasks: [],
    closed: new Map([['m2', 'agent']]),
    runs: new Map([['run_1', { status: 'completed' }]]),
    events: [
      { id: '1-0', code: 'am', agent: 'user', run: 'run_1', data: {} },
      { id: '2-0', code: 'done', agent: 'lead', run: 'run_1', data: {} },
    ],
    account: [
      ...[1, 2, 3].map((step) => ({ instance: 'lead', step, status: 'ok' as const })),
      ...[1, 2].map((step) => ({ instance: 'alice', step, status: 'ok' as const })),
      { instance: 'bob#1', step: 1, status: 'ok' },
      { instance: 'bob#1', step: 2, status: 'lost' },
    ],
    keys: [],
  };
}

const call = (op: string, n: number, t: number, more: Partial<Happening> = {}): Happening[] => [
  { t, proc: 'worker-1', op, n, phase: 'invoke', sessionId: 'ses_1', agent: 'alice', ...more },
  { t: t + 1, proc: 'worker-1', op, n, phase: 'ok', sessionId: 'ses_1', agent: 'alice', ...more },
];

function sound(): Evidence {
  return {
    sessions: [soundSession()],
    opened: ['ses_1'],
    product: [
      ...call('enqueue', 1, 5, { epoch: 1 }),
      ...call('claim', 2, 10, { epoch: 1, token: 'a', claimed: true }),
      ...call('commit.answer', 3, 20, { epoch: 1, token: 'a' }),
    ],
    clients: [
      { t: 1, proc: 'clients', op: 'accepted', sessionId: 'ses_1', runId: 'run_1', msgId: 'm1' },
      { t: 2, proc: 'clients', op: 'event', sessionId: 'ses_1', id: '1-0', event: 'am' },
      { t: 3, proc: 'clients', op: 'event', sessionId: 'ses_1', id: '2-0', event: 'done', runId: 'run_1' },
    ],
    effects: [{ tool: 'effect_once', sessionId: 'ses_1', agent: 'alice', key: 'k1' }],
    prompts: [
      {
        t: 15,
        messages: [
          { role: 'system', content: 'You are alice.' },
          { role: 'user', content: '<inbox>\n<message from="lead" type="task" msgId="m2">\nx\n</message>\n</inbox>' },
          { role: 'assistant', content: 'said', tool_calls: [{ id: 'c1', function: { name: 'effect_once' } }] },
          { role: 'tool', content: 'done', tool_call_id: 'c1' },
        ],
      },
    ],
    keys: [],
    truncated: false,
    lenient: false,
    isOrderly: true,
  };
}

/** Ids of the checks that find something. */
function raised(change: (evidence: Evidence, session: SessionRecord) => void): string[] {
  const evidence = sound();
  change(evidence, evidence.sessions[0] as SessionRecord);
  return ALL_CHECKS.filter((check) => check.find(evidence).length > 0).map(({ id }) => id);
}

const journalOf = (session: SessionRecord, name: string) =>
  session.agents.find((agent) => agent.name === name)?.journal as JournalEntry[];

test('nothing is found where all is well', () => {
  expect(raised(() => undefined)).toEqual([]);
});

test.each<[string, string, (evidence: Evidence, session: SessionRecord) => void]>([
  ['I1', 'a message that is nowhere', (_, session) => add(session, 'm4', { seq: 3 })],
  ['I1', 'a message in two places', (_, session) => void session.dead.push('m2')],
  [
    'I1',
    'a message that was accepted and is unknown',
    ({ clients }) => void Object.assign(clients[0] ?? {}, { msgId: 'm9' }),
  ],
  [
    'I1',
    'a message that was reported as sent and is unknown',
    (_, session) => void journalOf(session, 'lead').push(sent()),
  ],
  [
    'I2',
    'a task without a result',
    (_, session) => {
      session.ledger.delete('m3');
      journalOf(session, 'lead').splice(2, 1);
    },
  ],
  ['I1', 'a report of a call that is nowhere', (_, session) => void journalOf(session, 'lead').splice(4, 1)],
  ['I2', 'a result of no task', (_, { ledger }) => void Object.assign(ledger.get('m3') ?? {}, { inReplyTo: 'm1' })],
  ['I2', 'a task that is still open', (_, session) => void session.openTasks.push('m2')],
  ['I3', 'messages that were read out of order', (_, session) => disorder(session)],
  ['I4', 'a write after somebody else had claimed', ({ product }) => void product.push(...stolen())],
  ['I4', 'epochs that do not rise', ({ product }) => void product.push(...call('claim', 7, 30, again))],
  ['I4', 'a step that was committed twice', (_, session) => void journalOf(session, 'alice').push(answer(2))],
  ['I5', 'an effect that happened twice', ({ effects }) => void effects.push(...effects)],
  ['I5', 'an effect under a second key', ({ effects }) => void effects.push({ ...effects[0], key: 'k2' } as never)],
  ['I5', 'a call with two results', (_, session) => void journalOf(session, 'alice').splice(3, 0, result('c1'))],
  ['I5', 'a call with two reports', (_, session) => void journalOf(session, 'lead').push(report('h1', 'm6'))],
  ['I6', 'a second final event', (_, { events }) => void events.push({ ...events[1], id: '3-0' } as never)],
  ['I6', 'an event that a reader did not get', ({ clients }) => void clients.splice(1, 1)],
  [
    'I7',
    'a key that stays',
    ({ keys }) => void keys.push({ key: 'p:agent:{s00}:ses_1:lead', type: 'hash', ttl: -1, value: {} }),
  ],
  ['I8', 'a run of whose end nobody heard', ({ clients }) => void clients.pop()],
  [
    'I8',
    'an activation that the queue swallowed',
    ({ product }) => void product.push(...call('enqueue', 8, 40, { epoch: 2 })),
  ],
  ['I9', 'a tool call without a result', ({ prompts }) => void prompts[0]?.messages.pop()],
  [
    'I10',
    'a prompt that differs from the journal',
    ({ prompts }) => void Object.assign(prompts[0]?.messages[3] ?? {}, { content: 'else' }),
  ],
  ['I11', 'a run that failed', (_, { runs }) => void runs.set('run_1', { status: 'failed' })],
  ['I11', 'a session that is gone', (evidence) => void evidence.sessions.pop()],
  ['I12', 'too much memory', ({ clients }) => void clients.push({ t: 9, proc: 'x', op: 'sample', memory: 4e8 })],
  ['I14', 'an answer that nobody booked', ({ sessions }) => void sessions[0]?.account.splice(0, 1)],
  [
    'I14',
    'an answer that was booked twice',
    ({ sessions }) => void sessions[0]?.account.push({ instance: 'lead', step: 1, status: 'ok' }),
  ],
  ['I13', 'an agent that is stuck after a rollback', (evidence) => void Object.assign(evidence, { truncated: true })],
])('%s is found: %s', (id, _what, change) => {
  expect(raised(change)).toContain(id);
});

const again = { epoch: 1, token: 'b', claimed: true };

function add({ ledger }: SessionRecord, id: string, more: object): void {
  const [, message] = letter(id, 'user', 'lead', more);
  ledger.set(id, message as AgentMessage);
}

function sent(): JournalEntry {
  return { kind: 'sent', callId: 'c9', code: 'ok', msgId: 'm9', to: 'alice', type: 'task' };
}

function disorder(session: SessionRecord): void {
  add(session, 'm4', { from: 'alice', type: 'progress', seq: 1 });
  journalOf(session, 'lead').push(mail('m4'));
}

function stolen(): Happening[] {
  return [...call('claim', 5, 30, { ...again, epoch: 2 }), ...call('commit.answer', 6, 40, { epoch: 1, token: 'a' })];
}
