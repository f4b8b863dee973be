import {
  MODEL_ID,
  SCRIPTED_NOTICE,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedModelStats,
  startScriptedModel,
} from '.';

let model: ScriptedModel | undefined;
afterEach(() => model?.close());

async function start(options: ScriptedModelOptions): Promise<ScriptedModel> {
  model = await startScriptedModel(options);
  return model;
}

const REQUEST = { model: 'any', messages: [{ role: 'user', content: 'Hello' }] };

function post(body: object | string, init: RequestInit = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(`${model?.baseUrl}/chat/completions`, { method: 'POST', body: text, ...init });
}

interface Chunk {
  id: string;
  object: string;
  model: string;
  choices: {
    delta: {
      role?: string;
      content?: string;
      tool_calls?: { index: number; id?: string; function: { name?: string; arguments: string } }[];
    };
    finish_reason: string | null;
  }[];
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number } | null;
}

async function readStream(response: Response): Promise<Chunk[]> {
  const events = (await response.text()).split('\n\n').filter(Boolean);
  expect(events.pop()).toBe('data: [DONE]');
  return events.map((event) => JSON.parse(event.replace(/^data: /, '')) as Chunk);
}

describe('a streamed answer', () => {
  test('has the role first, pieces that cut no character, a finish reason, and usage when it is asked for', async () => {
    const say = 'x🐝🐝🐝🐝🐝🐝🐝🐝🐝🐝🐝🐝🐝🐝🐝🐝🐝🐝🐝🐝🐝🐝🐝🐝🐝 and 竞品分析';
    await start({ rules: [{ name: 'bees', say }] });
    const body = JSON.stringify({ ...REQUEST, stream: true, stream_options: { include_usage: true } });
    const response = await post(body);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const chunks = await readStream(response);
    expect(chunks[0]).toMatchObject({
      object: 'chat.completion.chunk',
      model: MODEL_ID,
      choices: [{ delta: { role: 'assistant' } }],
    });
    const pieces = chunks.flatMap(({ choices }) => choices[0]?.delta.content || []);
    expect(pieces.join('')).toBe(`${say}\n\n${SCRIPTED_NOTICE}`);
    for (const piece of pieces) expect([...piece].length).toBeLessThanOrEqual(24);
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    const output = Math.ceil(`${say}\n\n${SCRIPTED_NOTICE}`.length / 4);
    const input = Math.ceil(body.length / 4);
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    });
  });

  test('brings tool calls in pieces under their index', async () => {
    const long = { query: 'a query that is longer than one piece of the stream' };
    await start({
      rules: [{ name: 'two', say: 'Both.', call: [{ tool: 'lookup', with: long }, { tool: 'current_time' }] }],
    });
    const tools = ['lookup', 'current_time'].map((name) => ({ type: 'function', function: { name } }));
    const chunks = await readStream(await post({ ...REQUEST, tools, stream: true }));
    const deltas = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    const calls = [0, 1].map((index) => {
      const own = deltas.filter((delta) => delta.index === index);
      return {
        ids: own.flatMap(({ id }) => id ?? []),
        name: own[0]?.function.name,
        args: own.map((d) => d.function.arguments).join(''),
      };
    });
    expect(calls.map(({ name }) => name)).toEqual(['lookup', 'current_time']);
    expect(calls.map(({ args }) => JSON.parse(args))).toEqual([long, {}]);
    expect(new Set(calls.flatMap(({ ids }) => ids)).size).toBe(2);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
    expect(chunks.some(({ usage }) => usage)).toBe(false);
  });

  test('can be held in its middle', async () => {
    await start({ rules: [{ name: 'long', say: 'x'.repeat(60), hold: { name: 'middle', afterPieces: 1 } }] });
    const response = await post({ ...REQUEST, stream: true });
    await model?.held('middle');
    const reader = response.body?.getReader();
    let text = '';
    while (!text.includes('x')) text += Buffer.from((await reader?.read())?.value ?? []).toString();
    expect(text).not.toContain('[DONE]');
    model?.release('middle');
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
      text += Buffer.from(part.value).toString();
    expect(text).toContain('[DONE]');
  });
});

test('a whole answer has message, finish reason and usage', async () => {
  await start({ rules: [{ name: 'hello', say: 'Hello.' }] });
  expect(await (await post(REQUEST)).json()).toMatchObject({
    object: 'chat.completion',
    model: MODEL_ID,
    choices: [
      { index: 0, message: { role: 'assistant', content: `Hello.\n\n${SCRIPTED_NOTICE}` }, finish_reason: 'stop' },
    ],
    usage: { total_tokens: expect.any(Number) as number },
  });
});

test('a rule with status 429 and once refuses one request and names the wait', async () => {
  await start({
    rules: [
      { name: 'busy', status: 429, retryAfter: 0.2, once: true },
      { name: 'hello', say: 'Hello.' },
    ],
  });
  const refused = await post(REQUEST);
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(refused.headers.get('retry-after-ms')).toBe('200');
  expect(await refused.json()).toMatchObject({ error: { type: 'rate_limit_error' } });
  expect((await post(REQUEST)).status).toBe(200);
  expect(model?.stats()).toMatchObject({ served: 2, byRule: { busy: 1, hello: 1 } });
});

test('what was sent whole is listed with its id and tokens; what was refused or broken off is not', async () => {
  await start({
    rules: [
      { name: 'busy', status: 429, once: true },
      {
        name: 'cut',
        say: 'one two three four five six seven eight',
        hold: { name: 'middle', afterPieces: 1 },
        once: true,
      },
      { name: 'hello', say: 'Hello.' },
    ],
  });
  await post(REQUEST);
  const leave = new AbortController();
  const cut = await post({ ...REQUEST, stream: true }, { signal: leave.signal });
  await model?.held('middle');
  leave.abort();
  await expect(cut.text()).rejects.toThrow();
  const { id, usage } = (await (await post(REQUEST)).json()) as { id: string; usage: Record<string, number> };
  const [first] = await readStream(await post({ ...REQUEST, stream: true }));
  expect(model?.served()).toEqual([
    { id, rule: 'hello', input: usage.prompt_tokens, output: usage.completion_tokens },
    expect.objectContaining({ id: first?.id, rule: 'hello' }),
  ]);
  expect(await (await fetch(`${model?.url}/served`)).json()).toEqual(model?.served());
});

test('a rule that only holds slows the answer of the next one', async () => {
  await start({
    rules: [
      { name: 'gate', hold: { name: 'gate', parties: 2 } },
      { name: 'hello', say: 'Hello.' },
    ],
  });
  const first = post(REQUEST);
  await model?.held('gate');
  expect(model?.stats().barriers).toMatchObject({ gate: { waiting: 1, filled: 0 } });
  await Promise.all([first, post(REQUEST)]);
  expect(model?.stats().barriers).toMatchObject({ gate: { waiting: 0, filled: 1, timedOut: 0 } });
});

test('a barrier lets go after its timeout', async () => {
  await start({ rules: [{ name: 'gate', say: 'Hello.', hold: { name: 'gate', timeoutMs: 20 } }] });
  expect((await post(REQUEST)).status).toBe(200);
  expect(model?.stats().barriers).toMatchObject({ gate: { timedOut: 1 } });
});

async function readWaiting(): Promise<number> {
  const stats = (await (await fetch(`${model?.url}/stats`)).json()) as ScriptedModelStats;
  return stats.barriers.gate?.waiting ?? 0;
}

test('a client that goes away is no party of a barrier', async () => {
  await start({ rules: [{ name: 'gate', say: 'Hello.', hold: { name: 'gate', parties: 2, timeoutMs: 60_000 } }] });
  const leaving = new AbortController();
  const gone = post(REQUEST, { signal: leaving.signal });
  await model?.held('gate');
  leaving.abort();
  await expect(gone).rejects.toThrow();
  // Each look is a round trip to the server, which hears of the closed connection meanwhile.
  for (let looks = 0; looks < 1000 && (await readWaiting()) > 0; looks++);
  expect(await readWaiting()).toBe(0);
  const alone = post(REQUEST);
  await model?.held('gate');
  expect(model?.stats().barriers).toMatchObject({ gate: { waiting: 1, filled: 0 } });
  model?.release('gate');
  expect((await alone).status).toBe(200);
});

test('a base URL is served with and without /v1', async () => {
  await start({});
  for (const path of ['/v1/models', '/models']) {
    const list = await (await fetch(`${model?.url}${path}`)).json();
    expect(list).toMatchObject({ data: [{ id: MODEL_ID }] });
  }
  expect((await fetch(`${model?.url}/health`)).status).toBe(200);
});

test('request bodies are kept only when recording', async () => {
  await start({ record: true });
  await post(REQUEST);
  expect(await (await fetch(`${model?.url}/requests`)).json()).toEqual([REQUEST]);
  expect(model?.requests()).toEqual([REQUEST]);
  await model?.close();
  await start({});
  expect((await fetch(`${model?.url}/requests`)).status).toBe(404);
});

test.each([
  ['no JSON', '{', 400],
  ['no messages', '{"messages":[]}', 400],
  ['nothing that a rule fits', '{"messages":[{"role":"user","content":"Bye"}]}', 400],
])('%s is refused with an error body', async (_, body, status) => {
  await start({ rules: [{ name: 'hello', say: 'Hello.', when: { request: 'hello' } }] });
  const response = await post(body);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({
    error: { type: 'invalid_request_error', message: expect.any(String) as string },
  });
});
