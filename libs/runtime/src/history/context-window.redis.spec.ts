import type { Tool } from '@mailroom/capabilities';
import { AppError, type JournalEntry, LEAD } from '@mailroom/contracts';
import { countTokens } from '@mailroom/llm';
import { testRedis } from '@mailroom/tools';
import { z } from 'zod';
import { latch } from '../testing/latch';
import { askerOf, type ModelRequestBody, type ScriptedAnswer } from '../testing/model-server';
import { send, textOf, wait } from '../testing/story';
import { type HarnessOptions, TeamHarness } from '../testing/team-harness';

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

/** Each call is followed by its results, in call order, and nothing else claims to be one. */
function isLegal({ messages }: ModelRequestBody): boolean {
  const due: string[] = [];
  for (const { role, tool_calls = [], tool_call_id } of messages) {
    if (role === 'tool' ? due.shift() !== tool_call_id : due.length > 0) return false;
    due.push(...tool_calls.map(({ id }) => id));
  }
  return due.length === 0;
}

const pages = (tokens: number) => tool('read_page', (about) => prose(tokens, about)) as Tool;

/** About as many tokens. */
const prose = (tokens: number, about = 'river') =>
  `The ${about} runs past the old mill and the road. `.repeat(Math.ceil(tokens / 11));

describe.each([
  ['known', { contextWindow: WINDOW }, { figures: false }, 50],
  ['known, and the provider counts', { contextWindow: WINDOW }, { figures: true }, 20],
  ['unknown', {}, { figures: false }, 50],
  ['said to be larger than it is', { contextWindow: 64_000 }, { figures: true }, 20],
])('a window that is %s', (name, settings, options, rounds) => {
  test(`R22: a conversation of ${rounds * 8} steps on a model of 16,000 tokens never lets a context error through`, async () => {
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
      tools: [pages(250)],
      settings: { ...settings, idleMs: 5_000, transcriptMs: 5_000 },
      session: { callLimit: 2_000 },
    });
    for (let round = 0; round < rounds; round++) {
      const run = await harness.settled(await harness.ask(`Question ${round}. Note code-${round}-fox. ${prose(40)}`));
      expect(run).toMatchObject({ status: 'completed' });
    }
    const journal = await journalOf(LEAD);
    expect(journal.filter(({ kind }) => kind === 'assistant').length).toBeGreaterThanOrEqual(rounds * 8);
    expect(journal.filter(({ kind }) => kind === 'mail')).toHaveLength(rounds);
    expect(summaryCalls().length).toBeGreaterThan(rounds / 10);
    // What was said first is still known at the end.
    expect(textOf(requestsOf(LEAD).at(-1) as ModelRequestBody)).toContain('code-0-fox');
    expect(requestsOf(LEAD).every(isLegal)).toBe(true);
    expect(model.seen.refused).toBe(name.startsWith('known') ? 0 : 1);
    expect(model.seen.longest).toBeGreaterThan(WINDOW * 0.5);
  }, 30_000);
});

test('R22: open tasks and what the user asked in this run survive a summary word for word', async () => {
  const given = `Find the source of code-7-elk. ${prose(300, 'task')}`;
  const amended = 'Only sources of this year.';
  const held = latch();
  const model = narrow((request) => {
    if (isSummaryCall(request)) return { text: 'Alice and Bob are at work.' };
    const answers = request.messages.filter(({ role }) => role === 'assistant').length;
    if (askerOf(request) === 'alice') return { text: 'late finding', after: held.opened };
    if (textOf(request).includes('late finding')) return { text: 'the end' };
    if (answers === 0 && !textOf(request).includes('<summary>'))
      return { calls: [send('alice', 'task', given), send('bob', 'shutdown', 'not needed')] };
    if (answers === 1 && !textOf(request).includes('<summary>')) return { calls: [send('alice', 'revision', amended)] };
    if (requestsOf(LEAD).length < 20) return { calls: [{ name: 'read_page', args: { about: 'x' } }] };
    held.open();
    return { calls: [wait] };
  });
  await start({
    answer: model.answer,
    agents: [{ id: 'boss', tools: ['read_page'], subAgents: ['alice', 'bob'], contextWindow: WINDOW }],
    tools: [pages(1_500)],
  });
  const question = `Who is code-7-elk? ${prose(200, 'question')}`;
  expect((await harness.settled(await harness.ask(question))).output).toBe('the end');
  const shown = requestsOf(LEAD).filter((request) => textOf(request).includes('<summary>'));
  expect(shown.length).toBeGreaterThan(8);
  for (const request of shown.slice(0, 8)) {
    expect(textOf(request)).toContain(question);
    expect(textOf(request)).toContain(given);
    expect(textOf(request)).toContain(amended);
    expect(textOf(request)).not.toContain('not needed');
  }
  expect(model.seen.refused).toBe(0);
});

test('R22: a sub-agent keeps its task word for word, and its steps are counted as before', async () => {
  const given = `Find code-3-owl. ${prose(300, 'task')}`;
  const model = narrow((request) => {
    if (isSummaryCall(request)) return { text: 'Pages were read.' };
    if (askerOf(request) === LEAD)
      return textOf(request).includes('type="result"')
        ? { text: 'the end' }
        : { calls: [send('alice', 'task', given), wait] };
    return request.tools === undefined
      ? { text: 'all I have' }
      : { calls: [{ name: 'read_page', args: { about: 'x' } }] };
  });
  await start({
    answer: model.answer,
    agents: [{ id: 'alice', tools: ['read_page'], maxSteps: 20, contextWindow: WINDOW }],
    tools: [pages(1_500)],
  });
  await harness.settled(await harness.ask('go'));
  const shown = requestsOf('alice').filter((request) => textOf(request).includes('<summary>'));
  expect(shown.length).toBeGreaterThan(5);
  for (const request of shown) expect(textOf(request)).toContain(given);
  expect((await journalOf('alice')).filter(({ kind }) => kind === 'assistant')).toHaveLength(21);
  expect(model.seen.refused).toBe(0);
});

test('R22: a process that dies after the summary leaves the step to the next one, which makes no other summary', async () => {
  const model = narrow((request) => {
    if (isSummaryCall(request)) return { text: 'Pages were read.' };
    return requestsOf(LEAD).length < 12
      ? { calls: [{ name: 'read_page', args: { about: 'x' } }] }
      : { text: 'the end' };
  });
  const died: string[] = [];
  await start({
    answer: model.answer,
    team: [],
    agents: [{ id: 'boss', tools: ['read_page'], contextWindow: WINDOW }],
    tools: [pages(1_500)],
    at: async (point, running) => {
      const journal = await running.reader.journal('default', running.sessionId, LEAD);
      if (died.length > 0 || point !== 'after commit' || journal?.at(-1)?.kind !== 'summary') return;
      died.push(point);
      throw new AppError('internal', 'this process is gone');
    },
  });
  expect((await harness.settled(await harness.ask('go'))).output).toBe('the end');
  expect(died).toEqual(['after commit']);
  const journal = await journalOf(LEAD);
  const summaries = journal.filter(({ kind }) => kind === 'summary');
  expect(summaries).toHaveLength(summaryCalls().length);
  expect(new Set(summaries.map((entry) => entry.kind === 'summary' && entry.upTo)).size).toBe(summaries.length);
});

test('R21 R22: a summary is a model call: its tokens are in the usage, and it is reserved like any other', async () => {
  const model = narrow((request) => {
    if (isSummaryCall(request)) return { text: 'Pages were read.' };
    return request.tools === undefined ? { text: 'the end' } : { calls: [{ name: 'read_page', args: { about: 'x' } }] };
  });
  await start({
    answer: model.answer,
    team: [],
    agents: [{ id: 'boss', tools: ['read_page'], contextWindow: WINDOW, maxSteps: 1_000 }],
    tools: [pages(1_500)],
    session: { callLimit: 30 },
  });
  const run = await harness.settled(await harness.ask('go'));
  expect(run).toMatchObject({ status: 'completed', reason: 'budget_calls', output: 'the end' });
  expect(summaryCalls().length).toBeGreaterThan(1);
  expect(run.usage.calls).toBe(harness.model.requests.length);
  // The last step is granted beyond the budget, and so is a summary that it needs.
  expect(run.usage.calls - 30).toBeLessThanOrEqual(2);
});

test('R22: a body over a quarter of the window is shown as head and tail, and read_message reads the rest in pieces', async () => {
  const lines = Array.from({ length: 2_000 }, (_, i) => `Line ${i} of the long page.`);
  const read: string[] = [];
  const model = narrow((request) => {
    const last = request.messages.at(-1)?.role === 'tool' ? (request.messages.at(-1)?.content ?? '') : '';
    const results = request.messages.filter(({ role }) => role === 'tool').map(({ content }) => content ?? '');
    if (results.length === 0) return { calls: [{ name: 'read_page', args: { about: 'x' } }] };
    const cut = /read_message (\{"id":"[^"]+","offset":(\d+)\}) gives/.exec(results[0] ?? '');
    const newest = results.at(-1) ?? last;
    const next = /Next: offset (\d+)/.exec(newest)?.[1];
    if (results.length > 1) read.push(newest.slice(newest.indexOf('\n') + 1));
    const { id, offset } = JSON.parse(cut?.[1] ?? '{}');
    if (results.length === 1) return { calls: [{ name: 'read_message', args: { id, offset } }] };
    return results.length < 4
      ? { calls: [{ name: 'read_message', args: { id, offset: Number(next) } }] }
      : { text: 'read' };
  });
  await start({
    answer: model.answer,
    team: [],
    agents: [{ id: 'boss', tools: ['read_page'], contextWindow: WINDOW }],
    tools: [tool('read_page', () => lines.join('\n')) as Tool],
  });
  expect((await harness.settled(await harness.ask('go'))).output).toBe('read');
  const shown = requestsOf(LEAD)[1]?.messages.find(({ role }) => role === 'tool')?.content ?? '';
  expect(countTokens(shown)).toBeLessThanOrEqual(WINDOW / 4);
  expect(countTokens(shown)).toBeGreaterThan(WINDOW / 5);
  expect(shown.startsWith('Line 0 of') && shown.endsWith('Line 1999 of the long page.')).toBe(true);
  const whole = lines.join('\n');
  const head = shown.slice(0, shown.indexOf('\n[cut here:'));
  expect(whole.startsWith(head + read.join(''))).toBe(true);
  expect(read.join('').length).toBeGreaterThan(5_000);
  expect(requestsOf(LEAD)[0]?.tools?.map(({ function: { name } }) => name)).not.toContain('read_message');
  expect((await journalOf(LEAD)).find(({ kind }) => kind === 'tool')).toMatchObject({ content: whole });
  expect(model.seen.refused).toBe(0);
});

test('R22: a body that is longer than a window nobody knew of is cut after the refusal, and the run goes on', async () => {
  const model = narrow((request) =>
    request.messages.some(({ role }) => role === 'tool')
      ? { text: 'read' }
      : { calls: [{ name: 'read_page', args: { about: 'x' } }] },
  );
  await start({
    answer: model.answer,
    team: [],
    agents: [{ id: 'boss', tools: ['read_page'] }],
    tools: [pages(60_000)],
  });
  expect(await harness.settled(await harness.ask('go'))).toMatchObject({ status: 'completed', output: 'read' });
  expect(model.seen.refused).toBeGreaterThan(0);
  expect(model.seen.refused).toBeLessThan(4);
});

test('R22: what cannot be summarised is left out with a plain sentence, and the conversation goes on', async () => {
  const model = narrow((request) => {
    if (isSummaryCall(request)) return { status: 403 };
    return requestsOf(LEAD).length < 12
      ? { calls: [{ name: 'read_page', args: { about: 'x' } }] }
      : { text: 'the end' };
  });
  await start({
    answer: model.answer,
    team: [],
    agents: [{ id: 'boss', tools: ['read_page'], contextWindow: WINDOW }],
    tools: [pages(1_500)],
  });
  expect(await harness.settled(await harness.ask('go'))).toMatchObject({ status: 'completed', output: 'the end' });
  const text = textOf(requestsOf(LEAD).at(-1) as ModelRequestBody);
  expect(text.match(/could not be summarised/g)).toHaveLength(1);
  expect(model.seen.refused).toBe(0);
});

test('R22: a part that is too long for the summary call goes in shorter parts', async () => {
  let refusals = 0;
  const model = narrow((request) => {
    if (!isSummaryCall(request))
      return requestsOf(LEAD).length < 10
        ? { calls: [{ name: 'read_page', args: { about: 'x' } }] }
        : { text: 'the end' };
    if (sizeOf(request) < 5_000) return codeWords(request);
    refusals++;
    return { status: 400, error: { message: 'prompt is too long', code: 'invalid_request_error' } };
  });
  await start({
    answer: model.answer,
    team: [],
    agents: [{ id: 'boss', tools: ['read_page'], contextWindow: WINDOW }],
    tools: [pages(1_500)],
  });
  expect(await harness.settled(await harness.ask('Note code-1-fox.'))).toMatchObject({ output: 'the end' });
  expect(refusals).toBeGreaterThan(0);
  expect((await journalOf(LEAD)).filter(({ kind }) => kind === 'overflow')).toHaveLength(refusals);
});

test('R22: when nothing is left to take away the run fails with that code and says what to do', async () => {
  await start({
    answer: () => ({ status: 400, error: { message: 'too long', code: 'context_length_exceeded' } }),
    team: [],
  });
  const run = await harness.settled(await harness.ask('go'));
  expect(run).toMatchObject({ status: 'failed', reason: 'model_context_exceeded' });
  expect(run.output).toContain('Nothing of the history is left to summarise');
  expect(harness.model.requests).toHaveLength(1);
});

test('R22: a model that takes no length at all ends the run after a few calls, however long the history is', async () => {
  const isLong = (request: ModelRequestBody) => isSummaryCall(request) || textOf(request).includes('Now refuse.');
  await start({
    answer: (request) => {
      if (isLong(request)) return { status: 413 };
      const results = request.messages.filter(({ role }) => role === 'tool').length;
      return results < 30 ? { calls: [{ name: 'read_page', args: { about: 'x' } }] } : { text: 'the end' };
    },
    team: [],
    agents: [{ id: 'boss', tools: ['read_page'], maxSteps: 100 }],
    tools: [pages(500)],
  });
  expect((await harness.settled(await harness.ask('go'))).output).toBe('the end');
  const before = harness.model.requests.length;
  const run = await harness.settled(await harness.ask('Now refuse.'));
  expect(run).toMatchObject({ status: 'failed', reason: 'model_context_exceeded' });
  expect(harness.model.requests.length - before).toBeLessThan(20);
});
