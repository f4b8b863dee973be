import { createHash } from 'node:crypto';
import { LEAD } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import { askerOf, type ModelRequestBody, type ScriptedAnswer } from './testing/model-server';
import { send, textOf, wait } from './testing/story';
import { TeamHarness } from './testing/team-harness';

const redis = testRedis();
const TEAM = ['alice', 'bob', 'carol'];
const SEEDS = 24;
const LEAD_TYPES = ['task', 'task', 'revision', 'clarify_resp', 'shutdown'];
const MEMBER_TYPES = ['clarify', 'clarify', 'clarify_resp', 'progress', 'result'];

/** Numbers from 0 to 1 that these parts alone decide. */
function dice(...parts: (string | number)[]): () => number {
  let roll = 0;
  return () => {
    const digest = createHash('sha1')
      .update([...parts, roll++].join('|'))
      .digest();
    return digest.readUInt32BE(0) / 2 ** 32;
  };
}

/** Models that write anything to anybody, park, say nothing, use tools, or fail; some are lazier than others. */
function anyAnswer(seed: number) {
  return (request: ModelRequestBody): ScriptedAnswer => {
    const asker = askerOf(request);
    const roll = dice(seed, asker, request.messages.length);
    const pick = (list: readonly string[]) => list[Math.floor(roll() * list.length)] as string;
    const isLead = asker === LEAD;
    const known = [...textOf(request).matchAll(/msg_[0-9a-f]{12}/g)].map(([id]) => id).slice(-6);
    const calls = Array.from({ length: 1 + Math.floor(roll() * 3) }, () =>
      send(
        pick(isLead ? [...TEAM, 'nobody'] : [LEAD, LEAD, ...TEAM]),
        pick(isLead ? LEAD_TYPES : MEMBER_TYPES),
        'words',
        known.length > 0 && roll() < 0.5 ? pick(known) : undefined,
      ),
    );
    const mood = roll() - 0.3 * dice(seed, asker)();
    if (mood < 0) return { calls: roll() < 0.5 ? [wait] : [...calls, wait] };
    if (mood < 0.15) return { text: `text of ${asker}` };
    if (mood < 0.2) return { text: '' };
    if (mood < 0.22) return { status: 400 };
    if (mood < 0.3) return { calls: [{ name: 'current_time', args: {} }] };
    return { calls };
  };
}

function unlessSpent(error: unknown): undefined {
  expect(error).toMatchObject({ code: 'budget_spent' });
}

const seeds = Array.from({ length: SEEDS }, (_, index) => index + 1);

test.each(seeds)(
  'R15, R21: whatever its models do and however its hosts fail, each run of a team settles: seed %i',
  async (seed) => {
    const callLimit = seed % 3 === 0 ? 25 : 200;
    const chance = dice(seed, 'chance');
    const doomed = seed % 4 === 0 ? TEAM[seed % TEAM.length] : undefined;
    let failures = 0;
    const harness = await TeamHarness.start({
      redis,
      answer: anyAnswer(seed),
      team: TEAM,
      agents: [{ id: 'boss', tools: ['current_time'], subAgents: TEAM, maxSteps: 12 }],
      settings: { idleMs: 5 },
      session: { callLimit, wakeOn: seed % 2 ? 'each' : 'all' },
      at: async (point, { mailbox, sessionId, activations }, agent) => {
        // Before a claim there is nothing yet that a host could hand over: that is the sweeper's.
        const mayFail = point.startsWith('before') && point !== 'before claim';
        const event = chance();
        if (event > 0.995) await mailbox.cancelAgent(sessionId, TEAM[seed % TEAM.length] as string, 'any reason');
        else if (event > 0.98) for (const each of activations) each.stop('released');
        if (!mayFail || !(event < 0.02 || (agent === doomed && point === 'before commit'))) return;
        failures++;
        throw new Error('a bug in the host');
      },
    });
    try {
      for (const input of ['go', 'again']) {
        const runId = await harness.ask(input).catch(unlessSpent);
        if (!runId) break;
        expect(['completed', 'failed']).toContain((await harness.settled(runId)).status);
        await harness.allLeft();
      }
      const detail = await harness.reader.detail('default', harness.sessionId);
      expect(detail?.openTasks).toEqual([]);
      for (const { state } of detail?.agents ?? []) expect(['unloaded', 'dead']).toContain(state);
      // The one reserved step, and the calls whose answers were never written.
      expect(harness.model.requests.length).toBeLessThanOrEqual(callLimit + 1 + failures);
    } finally {
      await harness.close();
    }
  },
);
