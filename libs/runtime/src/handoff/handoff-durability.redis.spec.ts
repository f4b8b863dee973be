import type { Tool } from '@mailroom/capabilities';
import { LEAD } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import { z } from 'zod';
import { askerOf, type ModelRequestBody, type ScriptedAnswer } from '../testing/model-server';
import { TeamHarness } from '../testing/team-harness';

const redis = testRedis();
const AGENTS = [LEAD, 'alice#1', 'bob#1'];
const ACTIONS = ['claim', 'readInbox', 'commit', 'exit'];
const POINTS = ACTIONS.flatMap((action) => [`before ${action}`, `after ${action}`]);
const SWEEP = { againMs: 0, unclaimedMs: 0 };

const call = (name: string) => ({ name: `subagent_${name}`, args: { task: `a task for ${name}` } });
const answers = (request: ModelRequestBody) => request.messages.filter(({ role }) => role === 'assistant').length;
const questionIn = (request: ModelRequestBody) =>
  /type=\\"clarify\\" msgId=\\"(msg_[0-9a-f]{12})\\"/.exec(JSON.stringify(request.messages))?.[1];

/** Two calls at once: alice fails twice and is replaced by the lead's own tool; bob asks, is answered, and reports. */
function play(request: ModelRequestBody): ScriptedAnswer {
  const lines: Record<string, ScriptedAnswer[]> = {
    [LEAD]: [
      { calls: [call('alice'), call('bob')] },
      { calls: [{ name: 'answer_question', args: { question: questionIn(request), answer: 'the first' } }] },
      { text: 'the end' },
    ],
    'alice#1': [{ status: 400 }],
    'bob#1': [
      { calls: [{ name: 'send_message', args: { to: LEAD, type: 'clarify', content: 'which one?' } }] },
      { text: 'found' },
      { text: 'the report' },
    ],
  };
  return lines[askerOf(request)]?.[answers(request)] ?? { text: 'nothing more' };
}

interface Death {
  agent: string;
  point: string;
  /** At which time that the agent comes to the point, counted from 1. */
  time: number;
}

/** What came of one run in which a process died once. */
async function runWith({ agent, point, time }: Death) {
  let reached = 0;
  let effects = 0;
  const own: Tool = {
    name: 'subagent_alice',
    description: 'has an effect',
    parameters: z.object({ task: z.string() }),
    idempotent: false,
    execute: () => {
      effects++;
      return 'own';
    },
  };
  const harness = await TeamHarness.start({
    redis,
    answer: play,
    agents: [
      {
        id: 'boss',
        subAgents: ['alice', 'bob'],
        collaboration: 'handoff',
        tools: ['subagent_alice'],
        handoff: { maxRetries: 1, onError: 'fallback_to_primary' },
      },
    ],
    tools: [own],
    settings: { idleMs: 20, leaseMs: 0 },
    session: { jobMs: 0 },
    at: async (at, { due, sessionId }, who) => {
      if (who !== agent || at !== point || ++reached !== time) return;
      // A process that died here tells nobody: what it held runs out, and what it was to begin is not in the queue.
      const entry = { sessionId, agent };
      const epoch = await due.scheduledEpoch({ ...entry, kind: 'job' });
      if (at === 'before claim' && epoch !== undefined)
        await due.sweep({ ...entry, kind: 'job' }, SWEEP, { epoch, state: 'missing' });
      else await due.sweep({ ...entry, kind: 'lease' }, SWEEP);
      throw new Error('the process died');
    },
  });
  try {
    const run = await harness.settled(await harness.ask('go'));
    await harness.allLeft();
    const events = await harness.feed.read(harness.sessionId, '');
    const of = (code: string) => events.filter(({ event }) => event === code).map(({ data }) => data);
    return {
      isOver: reached < time,
      effects,
      run,
      request: harness.model.requests.filter((request) => askerOf(request) === LEAD).at(-1),
      ends: of('he').map(({ to, status, attempts }) => [to, status, attempts]),
      tasks: of('am').filter(({ from, type }) => from === LEAD && type === 'task'),
      results: of('ar').map(({ inReplyTo }) => inReplyTo),
      openTasks: (await harness.reader.detail('default', harness.sessionId))?.openTasks,
    };
  } finally {
    await harness.close();
  }
}

/** The results of tool calls, in words, of a history in which every call is followed by its own result. */
function resultsOf(request: ModelRequestBody | undefined): string[] {
  const told: string[] = [];
  let open: string[] = [];
  for (const { role, content, tool_calls: calls = [], ...rest } of request?.messages ?? []) {
    if (role === 'tool') {
      expect((rest as { tool_call_id?: string }).tool_call_id).toBe(open.shift());
      told.push(content ?? '');
    } else {
      expect(open).toEqual([]);
      open = calls.map(({ id }) => id);
    }
  }
  expect(open).toEqual([]);
  return told;
}

const OWN = /^own$|The outcome of this call is unknown/;

test.each(AGENTS.flatMap((agent) => POINTS.map((point) => [point, agent] as const)))(
  'a process that dies %s of %s changes nothing: one result per call and task, and the own tool has no second effect',
  async (point, agent) => {
    for (let time = 1; ; time++) {
      const { isOver, effects, run, request, ends, tasks, results, openTasks } = await runWith({ agent, point, time });
      expect(run).toMatchObject({ status: 'completed', output: 'the end' });
      expect(ends.sort()).toEqual([
        ['alice#1', 'fallback', 2],
        ['bob#1', 'completed', 1],
      ]);
      expect(results.sort()).toEqual(tasks.map(({ msgId }) => msgId).sort());
      expect([tasks.length, openTasks]).toEqual([3, []]);
      const [own, asked, report] = resultsOf(request);
      expect([own, asked, report]).toEqual([
        expect.stringMatching(OWN),
        expect.stringContaining('which one?'),
        expect.stringContaining('the report'),
      ]);
      expect(effects).toBeLessThanOrEqual(1);
      if (own === 'own') expect(effects).toBe(1);
      if (isOver) break;
    }
  },
  60_000,
);
