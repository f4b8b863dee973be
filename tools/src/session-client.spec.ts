import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SessionClient } from './session-client';

describe('the session client', () => {
  const servers: Server[] = [];
  const serve = async (listener: RequestListener): Promise<SessionClient> => {
    const server = createServer(listener).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return new SessionClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  };
  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });
  const frame = (id: number) =>
    `id: ${id}-0\nevent: rs\ndata: ${JSON.stringify({
      id: `${id}-0`,
      event: 'rs',
      type: 'run.status',
      sessionId: 's1',
      at: '2026-01-05T10:00:00.000Z',
      data: { status: 'running' },
    })}\n\n`;

  it('resumes after the last event it has seen when the connection breaks', async () => {
    const asked: unknown[] = [];
    const client = await serve((request, response) => {
      const lastId = request.headers['last-event-id'];
      asked.push(lastId);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (lastId === undefined) {
        // An event in two chunks, then half an event and a break.
        response.write(`: hello\n\n${frame(1)}${frame(2).slice(0, 20)}`);
        setImmediate(() => response.write(`${frame(2).slice(20)}${frame(3).slice(0, 30)}`, () => response.destroy()));
      } else response.write(frame(3));
    });
    const ids: string[] = [];
    for await (const { id } of client.events('s1')) {
      ids.push(id);
      if (id === '3-0') break;
    }
    expect(ids).toEqual(['1-0', '2-0', '3-0']);
    expect(asked).toEqual([undefined, '2-0']);
  });

  it('ends without an error when it is told to', async () => {
    const over = new AbortController();
    const client = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(frame(1));
    });
    const ids: string[] = [];
    for await (const { id } of client.events('s1', { signal: over.signal })) {
      ids.push(id);
      over.abort();
    }
    expect(ids).toEqual(['1-0']);
  });

  it('gives the words of a refusal, and does not ask again', async () => {
    let asked = 0;
    const client = await serve((_, response) => {
      asked++;
      response.writeHead(404, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ code: 'session_not_found', detail: 'there is no session s1' }));
    });
    await expect(client.detail('s1')).rejects.toThrow(
      '/api/v1/sessions/s1: 404 session_not_found: there is no session s1',
    );
    await expect(client.events('s1').next()).rejects.toMatchObject({ status: 404, code: 'session_not_found' });
    expect(asked).toBe(2);
  });
});
