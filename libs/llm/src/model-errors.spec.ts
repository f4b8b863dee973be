import { type AddressInfo, createServer } from 'node:net';
import { ask, clientOf, failure, KEY, OK, serve } from './testing/ask-model';
import type { Reply } from './testing/replay-server';
import { calls, chunk, DONE, data } from './testing/wire';

const usage = (input: number, output: number) => ({ prompt_tokens: input, completion_tokens: output });

describe('what only looks like success', () => {
  it('a web page fails at once, naming the address and the setting', async () => {
    for (const type of ['text/html; charset=utf-8', 'text/event-stream']) {
      const page = '<!doctype html>\n<html><body>Welcome</body></html>';
      const server = await serve({ body: page, headers: { 'content-type': type } });
      const thrown = await failure(ask(clientOf(server.baseUrl)).answer);
      expect(thrown.code).toBe('model_bad_answer');
      expect(thrown.message).toContain(`${server.baseUrl}/chat/completions`);
      expect(thrown.message).toContain('OPENAI_BASE_URL');
      expect(server.requests).toHaveLength(1);
    }
  });

  it.each([
    ['no byte', ''],
    ['only the end mark', DONE],
    ['only usage', data({ choices: [], usage: usage(1, 0) }) + DONE],
  ])('%s is an error, never an empty answer, and is tried again', async (_, body) => {
    const server = await serve(body, body, OK);
    expect(await ask(clientOf(server.baseUrl)).answer).toMatchObject({ content: 'done', attempts: 3 });
    expect((await failure(ask(clientOf((await serve(body)).baseUrl)).answer)).message).toContain('sent no answer');
  });

  it.each([
    ['ends', undefined],
    ['breaks', 'reset' as const],
  ])('a stream that %s in the middle is an error with the text so far', async (_, end) => {
    const server = await serve({ body: `${chunk({ content: 'Half' })}data: {"choi`, ...(end && { end }) });
    const thrown = await failure(ask(clientOf(server.baseUrl, { attempts: 1 })).answer);
    expect(thrown).toMatchObject({ code: 'model_unavailable', partialText: 'Half' });
  });

  it('data that is no JSON is an error that is not repeated', async () => {
    const server = await serve(chunk({ content: 'a' }) + data('{"oops'));
    expect(await failure(ask(clientOf(server.baseUrl)).answer)).toMatchObject({
      code: 'model_bad_answer',
      attempts: 1,
    });
  });

  it('a whole completion instead of a stream is an answer', async () => {
    const message = { role: 'assistant', content: 'whole' };
    const body = JSON.stringify(
      { model: 'served', choices: [{ message, finish_reason: 'stop' }], usage: usage(3, 1) },
      null,
      2,
    );
    const server = await serve({ body, headers: { 'content-type': 'application/json' } });
    expect(await ask(clientOf(server.baseUrl)).answer).toMatchObject({
      content: 'whole',
      usage: { input: 3, output: 1 },
    });
  });

  it('a tool call that the output limit cut, and a filtered answer, are errors', async () => {
    const cut = chunk(calls({ index: 0, id: 'a', function: { name: 'write', arguments: '{"text":"lo' } }));
    const long = await failure(ask(clientOf((await serve(cut + chunk({}, {}, 'length') + DONE)).baseUrl)).answer);
    expect(long).toMatchObject({ code: 'model_bad_answer', attempts: 1 });
    const filtered = chunk({ content: 'I' }) + chunk({}, {}, 'content_filter') + DONE;
    const refused = await failure(ask(clientOf((await serve(filtered)).baseUrl)).answer);
    expect(refused).toMatchObject({ code: 'model_refused', providerCode: 'content_filter', partialText: 'I' });
  });

  it('a whole answer stands when the connection then breaks or stays open', async () => {
    for (const end of ['reset', 'hang'] as const) {
      const server = await serve({ body: OK, end });
      expect((await ask(clientOf(server.baseUrl)).answer).content).toBe('done');
    }
  });
});

describe('errors of the provider', () => {
  const error = (message: string, code: string | null = null) =>
    JSON.stringify({ error: { message, type: 'x', code } });

  it.each([
    [400, error('Unknown field foo'), 'model_refused', 'Unknown field foo'],
    [401, error('No such key'), 'model_refused', 'OPENAI_API_KEY'],
    [404, '{"detail":"Not Found"}', 'model_refused', 'answered 404: Not Found; check OPENAI_BASE_URL'],
    [404, '<html>nginx</html>', 'model_refused', 'a web page; check OPENAI_BASE_URL'],
    [400, '{"object":"error","message":"too long","code":40303}', 'model_refused', 'too long (40303)'],
    [422, '{"detail":[{"loc":["body"],"msg":"bad"}]}', 'model_refused', '"msg":"bad"'],
    [
      429,
      error('You exceeded your current quota', 'insufficient_quota'),
      'model_refused',
      'current quota (insufficient_quota)',
    ],
  ])('%p %p is not repeated', async (status, body, code, said) => {
    const server = await serve({ status, body }, OK);
    const thrown = await failure(ask(clientOf(server.baseUrl)).answer);
    expect(thrown).toMatchObject({ code, attempts: 1 });
    expect(thrown.message).toContain(said);
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [400, error("This model's maximum context length is 16385 tokens.", 'context_length_exceeded')],
    [400, error("This endpoint's maximum context length is 8192 tokens. However, you requested about 9000.")],
    [400, error('prompt is too long: 210001 tokens > 200000 maximum')],
    [400, error('input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000')],
    [400, error('The input token count (40000) exceeds the maximum number of tokens allowed (32768).')],
    [400, error('Input is too long for requested model.')],
    [400, error('too many tokens: total number of tokens in the prompt cannot exceed 4081')],
    [400, '{"error":{"code":400,"message":"the request is too big","type":"exceed_context_size_error"}}'],
    [500, '{"error":{"code":500,"message":"the request exceeds the available context size. try again"}}'],
    [500, '{"error":"input length exceeds the context length"}'],
    [
      400,
      '{"object":"error","message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096"}',
    ],
    [422, '{"error":"`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000","error_type":"validation"}'],
    [400, error('The number of tokens to keep from the initial prompt is greater than the context length.')],
    [400, error('Please reduce the length of the messages or completion.')],
    [413, '{"message":"Request too large"}'],
    [200, data({ error: { message: 'Context size has been exceeded.', code: 400 } })],
  ])('R22: %p %p says that the request was too long', async (status, body) => {
    const server = await serve({ status, body }, OK);
    expect(await failure(ask(clientOf(server.baseUrl)).answer)).toMatchObject({
      code: 'model_context_exceeded',
      attempts: 1,
    });
  });

  it.each([
    [
      429,
      error('Request too large: tokens per minute, please reduce the length of the messages'),
      'model_rate_limited',
    ],
    [
      500,
      error('rpc failed: context deadline exceeded; exceeded while waiting (context canceled)'),
      'model_unavailable',
    ],
  ])('R22: %p %p does not', async (status, body, code) => {
    const server = await serve({ status, body });
    expect((await failure(ask(clientOf(server.baseUrl, { attempts: 1 })).answer)).code).toBe(code);
  });

  it.each([
    [408, 'model_unavailable'],
    [409, 'model_unavailable'],
    [429, 'model_rate_limited'],
    [500, 'model_unavailable'],
    [503, 'model_unavailable'],
  ])('%p is repeated up to three attempts, each wait is told', async (status, code) => {
    const server = await serve({ status, body: error('Busy') });
    const asked = ask(clientOf(server.baseUrl));
    expect(await failure(asked.answer)).toMatchObject({ code, attempts: 3 });
    expect(server.requests).toHaveLength(3);
    expect(asked.events.map(({ type, attempt }) => [type, attempt])).toEqual([
      ['waiting', 1],
      ['waiting', 2],
    ]);
  });

  it.each([
    ['milliseconds', { 'retry-after-ms': '400' }],
    ['seconds', { 'retry-after': '0.4' }],
  ])(
    'R13: a pause that the provider asks for in %s is kept and told, and is no part of an attempt',
    async (_, headers) => {
      const server = await serve({ status: 429, body: error('Slow down'), headers }, OK);
      const startedAt = performance.now();
      const asked = ask(clientOf(server.baseUrl), { silenceMs: 300, callMs: 300 });
      expect(await asked.answer).toMatchObject({ content: 'done', attempts: 2 });
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(399);
      expect(asked.events[0]).toEqual({ type: 'waiting', seconds: expect.closeTo(0.42, 1), attempt: 1 });
    },
  );

  it('a pause may be asked for as a date', async () => {
    const until = (ms: number) => ({ 'retry-after': new Date(Date.now() + ms).toUTCString() });
    const past = await serve({ status: 503, body: error('Slow down'), headers: until(-5_000) }, OK);
    expect(await ask(clientOf(past.baseUrl)).answer).toMatchObject({ attempts: 2 });
    const far = await serve({ status: 503, body: error('Slow down'), headers: until(600_000) }, OK);
    const thrown = await failure(ask(clientOf(far.baseUrl)).answer);
    expect(thrown.attempts).toBe(1);
    expect(thrown.retryAfterMs).toBeGreaterThan(500_000);
  });

  it('a longer pause than allowed fails at once and is named', async () => {
    const server = await serve({ status: 429, body: error('Slow down'), headers: { 'retry-after': '86400' } }, OK);
    const thrown = await failure(ask(clientOf(server.baseUrl)).answer);
    expect(thrown).toMatchObject({ code: 'model_rate_limited', attempts: 1, retryAfterMs: 86_400_000 });
    expect(thrown.message).toContain('asks to wait 86400 s');
    expect(server.requests).toHaveLength(1);
  });

  it('the key is cut out of what a provider echoes, and no cause is kept', async () => {
    const server = await serve({ status: 401, body: error(`Incorrect API key provided: ${KEY}`, KEY) });
    const thrown = await failure(ask(clientOf(server.baseUrl)).answer);
    expect(thrown.message).toContain('provided: [key]');
    expect(
      JSON.stringify({ ...thrown, message: thrown.message, stack: thrown.stack, cause: thrown.cause }),
    ).not.toContain(KEY);
  });

  it('the key is cut out also where a long text is shortened', async () => {
    const server = await serve({ status: 400, body: error(`${'x'.repeat(495)}${KEY}`) });
    expect((await failure(ask(clientOf(server.baseUrl)).answer)).message).not.toContain(KEY.slice(0, 4));
  });

  it('nobody at the address is an error that names it', async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => probe.once('listening', resolve));
    const baseUrl = `http://127.0.0.1:${(probe.address() as AddressInfo).port}/v1`;
    await new Promise((resolve) => probe.close(resolve));
    const thrown = await failure(ask(clientOf(baseUrl)).answer);
    expect(thrown).toMatchObject({ code: 'model_unavailable', attempts: 3 });
    expect(thrown.message).toContain('ECONNREFUSED');
    expect(thrown.message).toContain(baseUrl);
  });

  it('after a failure in the middle the next attempt tells its number, and the last text is kept', async () => {
    const broken: Reply = { body: chunk({ content: 'Half' }), end: 'reset' };
    const asked = ask(clientOf((await serve(broken, OK)).baseUrl));
    expect(await asked.answer).toMatchObject({ content: 'done', attempts: 2 });
    expect(asked.events.filter((event) => event.type === 'text')).toEqual([
      { type: 'text', text: 'Half', attempt: 1 },
      { type: 'text', text: 'done', attempt: 2 },
    ]);
    const gone = await failure(ask(clientOf((await serve(broken, { status: 500, body: '' })).baseUrl)).answer);
    expect(gone).toMatchObject({ attempts: 3, partialText: 'Half' });
  });
});
