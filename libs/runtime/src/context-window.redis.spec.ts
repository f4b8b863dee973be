import type { Tool } from '@mailroom/capabilities';
import { type JournalEntry, LEAD } from '@mailroom/contracts';
import { countTokens } from '@mailroom/llm';
import { testRedis } from '@mailroom/tools';
import { z } from 'zod';
import { askerOf, type ModelRequestBody, type ScriptedAnswer } from './testing/model-server';
import { mailId, send, story, textOf, wait } from './testing/story';
import { type HarnessOptions, TeamHarness } from './testing/team-harness';

const redis = testRedis();
let harness: TeamHarness;
afterEach(() => harness.close());

const start = async (options: Omit<HarnessOptions, 'redis'>) => {
  harness = await TeamHarness.start({ redis, ...options });
};
const WINDOW = 16_000;

const isSummaryCall = (request: ModelRequestBody) =>
  (request.messages[0]?.content ?? '').startsWith('You write the memory of an AI agent');
const summaryCalls = () => harness.model.requests.filter(isSummaryCall);
const requestsOf = (agent: string) => harness.model.requests.filter((request) => askerOf(request) === agent);
const journalOf = async (agent: string) =>
  (await harness.reader.journal('default', harness.sessionId, agent)) as JournalEntry[];
const kinds = async (agent: string) => (await journalOf(agent)).map(({ kind }) => kind);

const counted = new Map<string, number>();
const tokensIn = (text: string) => {
  const tokens = counted.get(text) ?? countTokens(text);
  counted.set(text, tokens);
  return tokens;
};

/** Tokens of a request as a provider counts them. */
function sizeOf(request: ModelRequestBody): number {
  let tokens = tokensIn(JSON.stringify(request.tools ?? []));
  for (const { content, tool_calls = [] } of request.messages) {
    tokens += 4 + tokensIn(content ?? '');
    for (const call of tool_calls) tokens += 4 + tokensIn(call.function.name) + tokensIn(call.function.arguments);
  }
  return tokens;
}

/** A model with a window, that refuses what is longer; counts its refusals. */
function narrow(answer: (request: ModelRequestBody, index: number) => ScriptedAnswer, options = { figures: false }) {
  const seen = { refused: 0, longest: 0 };
  return {
    seen,
    answer: (request: ModelRequestBody, index: number): ScriptedAnswer => {
      const size = sizeOf(request);
      if (size > WINDOW) {
        seen.refused++;
        const message = `This model's maximum context length is ${WINDOW} tokens, and you sent ${size}.`;
        return { status: 400, error: { message, code: 'context_length_exceeded' } };
      }
      seen.longest = Math.max(seen.longest, size);
      return { ...answer(request, index), ...(options.figures && { promptTokens: size }) };
    },
  };
}

/** A summary that keeps the code words of what it is given. */
const codeWords = (request: ModelRequestBody): ScriptedAnswer => ({
  text: `Code words so far: ${[...new Set(textOf(request).match(/code-\d+-[a-z]+/g))].join(' ')}`,
});

const tool = (name: string, content: (about: string) => string): Tool<{ about: string }> => ({
  name,
  description: name,
  parameters: z.object({ about: z.string() }),
  idempotent: true,
  execute: async ({ about }) => content(about),
});

/** About as many tokens. */
const prose = (tokens: number, about = 'river') =>
  `The ${about} runs past the old mill and the road. `.repeat(Math.ceil(tokens / 11));

describe.each([
  ['known', { contextWindow: WINDOW }, { figures: false }],
  ['known, and the provider counts', { contextWindow: WINDOW }, { figures: true }],
  ['unknown', {}, { figures: false }],
])('a window that is %s', (name, settings, options) => {
  test('R22: a conversation of 400 steps on a model of 16,000 tokens never lets a context error through', async () => {
    const model = narrow((request) => {
      if (isSummaryCall(request)) return codeWords(request);
      const since = request.messages.findLastIndex(({ content }) => content?.includes('<message from="user"'));
      const steps = request.messages.slice(since).filter(({ role }) => role === 'assistant').length;
      return steps < 7
        ? { calls: [{ name: 'read_page', args: { about: `page ${steps}` } }] }
        : { text: prose(60, 'answer') };
    }, options);
    await start({
      answer: model.answer,
      team: [],
      agents: [{ id: 'boss', tools: ['read_page'] }],
      tools: [tool('read_page', (about) => prose(250, about))],
      settings: { ...settings, idleMs: 5_000, transcriptMs: 5_000 },
      session: { callLimit: 2_000 },
    });
    for (let round = 0; round < 50; round++) {
      const run = await harness.settled(await harness.ask(`Question ${round}. Note code-${round}-fox. ${prose(40)}`));
      expect(run).toMatchObject({ status: 'completed' });
    }
    const journal = await journalOf(LEAD);
    expect(journal.filter(({ kind }) => kind === 'assistant').length).toBeGreaterThanOrEqual(400);
    expect(journal.filter(({ kind }) => kind === 'mail')).toHaveLength(50);
    expect(summaryCalls().length).toBeGreaterThan(5);
    // What was said first is still known at the end.
    expect(textOf(requestsOf(LEAD).at(-1) as ModelRequestBody)).toContain('code-0-fox');
    expect(model.seen.refused).toBe(name === 'unknown' ? 1 : 0);
    expect(model.seen.longest).toBeGreaterThan(WINDOW * 0.5);
  }, 30_000);
});
