import type { EventCode, JournalEntry, SessionEvent, TraceSpan } from '@mailroom/contracts';
import { EventFacts } from './event-facts';
import { JournalSpans } from './journal-spans';

const usage = { input: 1, output: 1 };
let clock = 0;

function event(code: EventCode, agentId: string, data: Record<string, unknown>): SessionEvent {
  const at = new Date(++clock * 1_000).toISOString();
  return { id: `${clock}-0`, event: code, type: code, sessionId: 's', runId: 'r', agentId, at, data };
}

function answer(step: number, ...calls: string[]): JournalEntry {
  const toolCalls = calls.map((id) => ({ id, name: 'subagent_bob', arguments: '{}' }));
  return { kind: 'assistant', step, runId: 'r', openTasks: [], content: '', toolCalls, model: 'm', usage };
}

function spansOf(facts: EventFacts, entries: JournalEntry[]): TraceSpan[] {
  const journal = new JournalSpans('lead', { facts, messages: new Map(), senders: new Map() });
  for (const entry of entries) journal.take(entry);
  return journal.found.map(({ span }) => span);
}

const ended = (outcome: 'completed' | 'failed' | 'asked' | 'fallback', callId = 'c1'): JournalEntry => ({
  kind: 'handoff',
  callId,
  outcome,
  tool: 'subagent_bob',
  to: 'bob#1',
  ids: ['msg_1'],
  attempts: 2,
  steps: 3,
});

test('a handoff is a span of its own, over all attempts, and its instance works below it', () => {
  const facts = new EventFacts();
  const started = { handoffId: 'h1', callId: 'c1', tool: 'subagent_bob', to: 'bob#1', depth: 1, sessionMode: 'new' };
  const events = [
    event('ts', 'lead', { toolCallId: 'c1', name: 'subagent_bob', arguments: 'secret', step: 1 }),
    event('hs', 'lead', { ...started, attempt: 1, status: 'starting' }),
    event('as', 'bob#1', { host: 'w', epoch: 1, reload: false }),
    event('hs', 'lead', { ...started, attempt: 2, status: 'starting' }),
    event('he', 'lead', { ...started, status: 'completed', attempts: 2, durationMs: 3_000, content: 'secret' }),
  ];
  for (const one of events) facts.take(one);
  const spans = spansOf(facts, [answer(1, 'c1'), ended('completed')]);
  expect(spans.find(({ kind }) => kind === 'handoff')).toEqual({
    id: 'handoff:lead:1:c1',
    parentId: 'step:lead:1',
    kind: 'handoff',
    name: 'subagent_bob',
    agent: 'lead',
    startedAt: events[1]?.at,
    endedAt: events[4]?.at,
    status: 'ok',
    attributes: {
      ...started,
      attempt: 2,
      status: 'completed',
      attempts: 2,
      durationMs: 3_000,
      outcome: 'completed',
      steps: 3,
    },
  });
  expect(spans.some(({ kind }) => kind === 'tool')).toBe(false);
  expect(facts.activations).toMatchObject([{ id: 'activation:bob#1:1', handoff: { spanId: 'handoff:lead:1:c1' } }]);
});

test('a handoff whose call was trimmed from the events is found by its call id', () => {
  const facts = new EventFacts();
  facts.take(event('hs', 'lead', { handoffId: 'h1', callId: 'c1', to: 'bob#1', status: 'starting' }));
  facts.take(event('as', 'bob#1', { host: 'w', epoch: 1, reload: false }));
  expect(spansOf(facts, [answer(1, 'c1')]).at(-1)).toMatchObject({ id: 'handoff:lead:1:c1', status: 'running' });
  expect(facts.activations[0]?.handoff?.spanId).toBe('handoff:lead:1:c1');
});

test('without its events a handoff is told by the journal', () => {
  const spans = spansOf(new EventFacts(), [answer(1, 'c1'), ended('failed')]);
  expect(spans.find(({ id }) => id === 'handoff:lead:1:c1')).toMatchObject({ kind: 'handoff', status: 'failed' });
});

test('a call whose agent asked back has ended with the question, and so has its step; the answer is a call of its own', () => {
  const spans = spansOf(new EventFacts(), [answer(1, 'c1'), ended('asked'), answer(2, 'c2'), ended('completed', 'c2')]);
  expect(spans.filter(({ kind }) => kind === 'step').map(({ status }) => status)).toEqual(['ok', 'ok']);
  expect(spans.filter(({ kind }) => kind === 'handoff')).toMatchObject([
    { id: 'handoff:lead:1:c1', status: 'ok', attributes: { outcome: 'asked' } },
    { id: 'handoff:lead:2:c2', status: 'ok', attributes: { outcome: 'completed' } },
  ]);
});

test('a fallback ends with the result of the own tool', () => {
  const own: JournalEntry = { kind: 'tool', callId: 'c1', content: 'own answer' };
  const [, , handoff] = spansOf(new EventFacts(), [answer(1, 'c1'), ended('fallback'), own]);
  expect(handoff).toMatchObject({ kind: 'handoff', status: 'ok', attributes: { outcome: 'fallback', attempts: 2 } });
});

test('a call without a result runs, and so does its step', () => {
  const [step, , tool] = spansOf(new EventFacts(), [answer(1, 'c1')]);
  expect([step?.status, tool?.status]).toEqual(['running', 'running']);
});

test('the same call id in two steps is two calls', () => {
  const facts = new EventFacts();
  const events = [1, 2].flatMap((step) => [
    event('ts', 'lead', { toolCallId: 'c1', name: 'subagent_bob', step }),
    event('tr', 'lead', { toolCallId: 'c1', ...(step === 1 && { step }) }),
  ]);
  for (const one of events) facts.take(one);
  const result: JournalEntry = { kind: 'tool', callId: 'c1', content: 'x' };
  const tools = spansOf(facts, [answer(1, 'c1'), result, answer(2, 'c1'), { ...result, error: true }]).filter(
    ({ kind }) => kind === 'tool',
  );
  expect(tools.map(({ id, endedAt, status }) => [id, endedAt, status])).toEqual([
    ['tool:lead:1:c1', events[1]?.at, 'ok'],
    ['tool:lead:2:c1', events[3]?.at, 'failed'],
  ]);
});

test('a failed model call and a summary are model calls too', () => {
  const spans = spansOf(new EventFacts(), [
    { kind: 'engine', code: 'failure', text: 'A step could not be made.' },
    { kind: 'summary', upTo: 1, text: 'So far.', model: 'm', usage, runId: 'r' },
  ]);
  expect(spans).toMatchObject([
    { kind: 'model', status: 'failed' },
    { kind: 'model', status: 'ok', parentId: 'run:r', attributes: { purpose: 'summary', input: 1 } },
  ]);
});
