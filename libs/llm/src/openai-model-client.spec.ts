import { setImmediate as turn } from 'node:timers/promises';
import type { ModelRequest } from './model-client';
import { ask, clientOf, failure, KEY, OK, serve } from './testing/ask-model';
import { calls, chunk, DONE, data, stream } from './testing/wire';

const usage = (input: number, output: number) => ({ prompt_tokens: input, completion_tokens: output });

describe.each([1, 7, undefined])('a stream in pieces of %p bytes', (split) => {
  const replay = async (body: string, request: Partial<ModelRequest> = {}) => {
    const server = await serve(split === undefined ? { body } : { body, split });
    const asked = ask(clientOf(server.baseUrl), request);
    return { server, events: asked.events, answer: await asked.answer };
  };

  it('is heard as text and comes back as the answer', async () => {
    const { answer, events, server } = await replay(stream({ role: 'assistant', content: 'Zoë ' }, { content: '🦉' }));
    expect(answer).toMatchObject({ content: 'Zoë 🦉', toolCalls: [], model: 'served', attempts: 1 });
    expect(events).toEqual([
      { type: 'text', text: 'Zoë ', attempt: 1 },
      { type: 'text', text: '🦉', attempt: 1 },
    ]);
    expect(server.requests[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${KEY}` },
    });
    expect(server.requests[0]?.body).toMatchObject({ model: 'asked', stream_options: { include_usage: true } });
  });

  it('is asked for with a long history, that is sent whole', async () => {
    const lasting = Array.from({ length: 50 }, (_, i) => ({
      role: 'user' as const,
      content: `${i} Zoë 🦉 `.repeat(500),
    }));
    const { answer, server } = await replay(OK, { lasting, messages: [{ role: 'user', content: 'Go on.' }] });
    expect(answer.content).toBe('done');
    expect(server.requests[0]?.body.messages).toEqual([...lasting, { role: 'user', content: 'Go on.' }]);
  });

  it('with noise gives the text and the last usage', async () => {
    const { answer } = await replay(
      [
        ': waiting\n\n',
        data({ id: '', model: '', choices: [], prompt_filter_results: [] }),
        'data: : keepalive\n\n',
        chunk({ role: 'assistant', content: '' }, { usage: null }),
        chunk({ content: 'Hel' }, { usage: usage(11, 1) }),
        'event: ping\ndata: \n\n:\n\n',
        chunk({ content: 'lo' }, { usage: usage(11, 2) }),
        chunk({}, { usage: null }, 'stop'),
        data({ choices: [], usage: { ...usage(11, 2), prompt_tokens_details: { cached_tokens: 4 } } }),
        data({ choices: [], usage: null }),
        ': bye\ndata: [DONE]\n\n',
      ].join(''),
    );
    expect(answer).toMatchObject({ content: 'Hello', usage: { input: 11, output: 2, cached: 4 } });
  });

  it('keeps reasoning out of the text', async () => {
    const { answer, events } = await replay(
      stream(
        { reasoning_content: 'Need the ' },
        { reasoning_content: 'weather.' },
        { content: null, reasoning_content: null },
        { content: '4' },
      ),
    );
    expect(answer).toMatchObject({ content: '4', reasoning: 'Need the weather.' });
    expect(events.map((event) => event.type)).toEqual(['reasoning', 'reasoning', 'text']);
  });

  it('with the other reasoning field is heard, and has nothing to send back', async () => {
    const { answer, events } = await replay(stream({ content: '', reasoning: 'Now ' }, { content: '4' }));
    expect(events[0]).toEqual({ type: 'reasoning', text: 'Now ', attempt: 1 });
    expect(answer.content).toBe('4');
    expect(answer).not.toHaveProperty('reasoning');
  });

  it('that ends with "stop" keeps its tool calls and the text before them, without a role', async () => {
    const { answer } = await replay(
      stream(
        { content: 'Let me look. ' },
        calls({ index: 0, id: 's_1', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }),
      ),
    );
    expect(answer.content).toBe('Let me look. ');
    expect(answer.toolCalls).toEqual([{ id: 's_1', name: 'weather', arguments: '{"city":"Oslo"}' }]);
  });

  it('that says "tool_calls" without a call is an answer', async () => {
    const { answer } = await replay(chunk({ content: 'Nothing to call.' }) + chunk({}, {}, 'tool_calls') + DONE);
    expect(answer).toMatchObject({ content: 'Nothing to call.', toolCalls: [] });
  });

  it.each([
    [
      'an object',
      data({ error: { message: 'Out of memory', type: 'server_error', code: 'worker_oom' } }),
      'Out of memory (worker_oom)',
      'worker_oom',
    ],
    [
      'an event',
      `event: error\n${data({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })}`,
      'Overloaded (overloaded_error)',
      'overloaded_error',
    ],
    [
      'a choice',
      chunk({ content: '' }, { error: { code: 502, message: 'Disconnected' } }, 'error'),
      'Disconnected (502)',
      '502',
    ],
    ['text', data({ error: 'model not loaded' }), 'model not loaded', undefined],
    ['plain text of an error event', 'event: error\ndata: too busy\n\n', 'too busy', undefined],
    [
      'a bare line',
      '{"error":{"message":"Out of memory","code":"worker_oom"}}',
      'Out of memory (worker_oom)',
      'worker_oom',
    ],
  ])('with an error as %s fails with its message, its code and the text so far', async (_, error, said, code) => {
    const server = await serve({ body: chunk({ content: 'The answer is ' }) + error, ...(split && { split }) });
    const thrown = await failure(ask(clientOf(server.baseUrl, { attempts: 1 })).answer);
    expect(thrown).toMatchObject({ code: 'model_unavailable', partialText: 'The answer is ', attempts: 1 });
    expect(thrown.providerCode).toBe(code);
    expect(thrown.message).toContain(said);
  });
});

describe('the client', () => {
  it('uses one connection for calls one after the other', async () => {
    const server = await serve(OK, { status: 500, body: '{}' }, OK);
    const client = clientOf(server.baseUrl, { backoffMs: 10 });
    for (let call = 0; call < 4; call++) {
      await ask(client).answer;
      // A connection is taken back in the turn after the one that ends the body.
      await turn();
    }
    expect(new Set(server.requests.map((request) => request.socket)).size).toBe(1);
    expect(server.requests).toHaveLength(5);
  });

  it('lets the error of a listener through as it is, and ends the call', async () => {
    const server = await serve({ body: chunk({ content: 'a' }), end: 'hang' });
    const broken = new Error('listener');
    const heard = () => {
      throw broken;
    };
    await expect(ask(clientOf(server.baseUrl), { silenceMs: 60_000, callMs: 60_000 }, heard).answer).rejects.toBe(
      broken,
    );
    await server.requests[0]?.closed;
  });

  it.each(['', 'localhost:8000/v1', 'ftp://host/v1', 'http://user:pass@host/v1'])(
    'refuses %p as base URL',
    (baseUrl) => {
      expect(() => clientOf(baseUrl)).toThrow(/OPENAI_BASE_URL/);
    },
  );

  it('refuses a key that no header carries, without quoting it', () => {
    expect(() => clientOf('http://host/v1', { apiKey: 'sk-1\n' })).toThrow(/^OPENAI_API_KEY has/);
  });

  it('needs no key for a server that asks for none, and takes a base URL with a slash at its end', async () => {
    const server = await serve(OK);
    const client = clientOf(`${server.baseUrl}/`, { apiKey: '' });
    expect((await ask(client).answer).content).toBe('done');
    expect(server.requests[0]?.path).toBe('/v1/chat/completions');
  });

  it('tells the server who it is and nothing of this machine', async () => {
    const server = await serve(OK);
    await ask(clientOf(server.baseUrl)).answer;
    const { host, 'content-length': length, ...headers } = server.requests[0]?.headers ?? {};
    expect(headers).toEqual({
      accept: 'application/json',
      authorization: `Bearer ${KEY}`,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'user-agent': 'mailroom',
    });
  });

  it('follows no redirect: the key goes to nobody else', async () => {
    const other = await serve(OK);
    const server = await serve({ status: 307, headers: { location: `${other.baseUrl}/chat/completions` }, body: '' });
    expect((await failure(ask(clientOf(server.baseUrl)).answer)).message).toContain('307');
    expect(other.requests).toHaveLength(0);
  });

  it('calls again over a new connection when the server has closed the kept one', async () => {
    const server = await serve(OK);
    const client = clientOf(server.baseUrl);
    await ask(client).answer;
    await new Promise<void>((resolve) => server.requests[0]?.socket.end(resolve));
    expect((await ask(client).answer).content).toBe('done');
    expect(new Set(server.requests.map((request) => request.socket)).size).toBe(2);
  });
});
