import type { ModelEvent } from './model-client';
import { ask, clientOf, failure, OK, serve } from './testing/ask-model';
import type { Reply } from './testing/replay-server';
import { chunk } from './testing/wire';

describe('R13: the limits of an attempt', () => {
  it.each([
    ['before the first byte', '', ''],
    ['in the middle', chunk({ content: 'So far' }), 'So far'],
  ])('R13: silence %s ends it with the text so far, and the connection', async (_, body, partialText) => {
    const server = await serve({ body, end: 'hang' });
    const thrown = await failure(ask(clientOf(server.baseUrl, { attempts: 1 }), { silenceMs: 250 }).answer);
    expect(thrown).toMatchObject({ code: 'model_timeout', partialText });
    expect(thrown.message).toContain('sent nothing for 250 ms');
    await server.requests[0]?.closed;
  });

  it('R13: a model that goes on is ended by the limit of the call', async () => {
    const server = await serve({ body: chunk({ content: 'on ' }), end: 'repeat' });
    const thrown = await failure(
      ask(clientOf(server.baseUrl, { attempts: 1 }), { silenceMs: 200, callMs: 500 }).answer,
    );
    expect(thrown.code).toBe('model_timeout');
    expect(thrown.message).toContain('within 500 ms');
    expect(thrown.partialText).toMatch(/^(on )+$/);
  });

  it('R13: comments keep a connection open but are no sign of the model', async () => {
    const server = await serve({ body: ': keepalive\n\ndata: : keepalive\n\n', end: 'repeat' });
    const thrown = await failure(ask(clientOf(server.baseUrl, { attempts: 1 }), { silenceMs: 250 }).answer);
    expect(thrown.message).toContain('sent nothing for 250 ms');
  });

  it('R13: both limits begin anew with each attempt, and a timeout is repeated', async () => {
    const server = await serve({ body: '', end: 'hang' }, OK);
    expect(await ask(clientOf(server.baseUrl), { silenceMs: 250 }).answer).toMatchObject({
      content: 'done',
      attempts: 2,
    });
  });
});

describe('an abort', () => {
  const reason = new Error('stopped by the user');

  it('before the call sends nothing', async () => {
    const server = await serve(OK);
    await expect(ask(clientOf(server.baseUrl), { signal: AbortSignal.abort(reason) }).answer).rejects.toBe(reason);
    expect(server.requests).toHaveLength(0);
  });

  it('while the headers are awaited, in the stream, and in a pause rejects with its reason', async () => {
    for (const when of ['request', 'text', 'waiting'] as const) {
      const slow: Reply = { body: '', status: 429, headers: { 'retry-after': '30' } };
      const server = await serve(when === 'waiting' ? slow : { body: chunk({ content: 'a' }), end: 'hang' });
      const stop = new AbortController();
      if (when === 'request') server.onRequest = () => stop.abort(reason);
      const heard = (event: ModelEvent) => event.type === when && setImmediate(() => stop.abort(reason));
      await expect(ask(clientOf(server.baseUrl), { signal: stop.signal }, heard).answer).rejects.toBe(reason);
      await server.requests[0]?.closed;
      expect(server.requests).toHaveLength(1);
    }
  });

  it('of one that waits for a connection leaves the others alone', async () => {
    const server = await serve({ body: chunk({ content: 'a' }), end: 'hang' }, OK);
    const client = clientOf(server.baseUrl, { maxConnections: 1, attempts: 1 });
    const [first, second] = [new AbortController(), new AbortController()];
    const held = ask(client, { signal: first.signal }, () => second.abort(reason)).answer;
    const queued = ask(client, { signal: second.signal }).answer;
    const last = ask(client).answer;
    await expect(queued).rejects.toBe(reason);
    expect(server.requests).toHaveLength(1);
    first.abort(reason);
    await expect(held).rejects.toBe(reason);
    expect((await last).content).toBe('done');
  });
});
