import type { AssistantEntry } from '@mailroom/contracts';
import type { Inbox } from '@mailroom/mailbox';
import { Memory } from './memory';
import { nextStep } from './next-step';
import { inboxWith } from './testing/inbox';

const task = { id: 'task', agentId: 'a', runId: 'run', openedAt: '', read: true };
const step = (openTasks: string[], runId = 'run'): AssistantEntry => ({
  kind: 'assistant',
  step: 1,
  runId,
  openTasks,
  content: 'x',
  toolCalls: [],
  model: 'm',
  usage: { input: 0, output: 0 },
});
const remember = (...entries: Inbox['entries']) => {
  const memory = new Memory();
  memory.take(inboxWith({ entries }));
  return memory;
};

test('open tool calls come before anything else', () => {
  expect(
    nextStep(inboxWith({ tail: 'tools' }), new Memory(), { role: 'sub-agent', reports: false, maxSteps: 8 }),
  ).toEqual({
    kind: 'use-tools',
  });
});

test('an idle agent without work idles, and leaves when its work was taken away', () => {
  expect(
    nextStep(inboxWith({ tail: 'idle', work: false }), new Memory(), { role: 'lead', reports: false, maxSteps: 8 }),
  ).toEqual({ kind: 'idle' });
  expect(
    nextStep(inboxWith({ tail: 'idle', work: false, leave: 'shutdown' }), new Memory(), {
      role: 'sub-agent',
      reports: false,
      maxSteps: 8,
    }),
  ).toEqual({
    kind: 'leave',
    reason: 'shutdown',
  });
});

test('R14: while the wake window is open a lead collects', () => {
  expect(
    nextStep(inboxWith({ tail: 'idle', waitMs: 90 }), new Memory(), { role: 'lead', reports: false, maxSteps: 8 }),
  ).toEqual({ kind: 'collect', ms: 90 });
});

test('R12: steps count per task, also those before a reload, and the last one is announced first', () => {
  const before = [step(['task']), step(['other', 'task'])];
  expect(
    nextStep(inboxWith({ tasks: [task] }), remember(...before, step(['other'])), {
      role: 'sub-agent',
      reports: false,
      maxSteps: 3,
    }),
  ).toEqual({
    kind: 'think',
    last: false,
  });
  const memory = remember(...before, step(['task']));
  expect(nextStep(inboxWith({ tasks: [task] }), memory, { role: 'sub-agent', reports: false, maxSteps: 3 })).toEqual({
    kind: 'announce-limit',
  });
  memory.take(inboxWith({ entries: [{ kind: 'engine', code: 'limit', text: '' }] }));
  expect(nextStep(inboxWith({ tasks: [task] }), memory, { role: 'sub-agent', reports: false, maxSteps: 3 })).toEqual({
    kind: 'think',
    last: true,
  });
});

test('R12: without an open task a sub-agent has four steps per run', () => {
  const four = [step([]), step([]), step([]), step([])];
  expect(
    nextStep(inboxWith({}), remember(...four.slice(1)), { role: 'sub-agent', reports: false, maxSteps: 8 }),
  ).toEqual({
    kind: 'think',
    last: false,
  });
  expect(nextStep(inboxWith({}), remember(...four), { role: 'sub-agent', reports: false, maxSteps: 8 })).toEqual({
    kind: 'retire',
  });
  expect(
    nextStep(inboxWith({ runId: 'next' }), remember(...four), { role: 'sub-agent', reports: false, maxSteps: 8 }),
  ).toEqual({ kind: 'think', last: false });
});

test('R12: a lead at its limit of the run concludes, then answers once without tools', () => {
  const memory = remember(step([], 'before'), step([]), step([]));
  expect(nextStep(inboxWith({}), memory, { role: 'lead', reports: false, maxSteps: 3 })).toEqual({
    kind: 'think',
    last: false,
  });
  expect(nextStep(inboxWith({}), memory, { role: 'lead', reports: false, maxSteps: 2 })).toEqual({ kind: 'conclude' });
  expect(nextStep(inboxWith({ final: 'max_steps' }), memory, { role: 'lead', reports: false, maxSteps: 2 })).toEqual({
    kind: 'think',
    last: true,
  });
});
