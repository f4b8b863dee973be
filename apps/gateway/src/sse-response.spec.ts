import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { SessionEvent } from '@mailroom/contracts';
import { SseResponse } from './sse-response';

let server: Server;
let socket: Socket;
let response: ServerResponse;
let left: AbortController;

beforeEach(async () => {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  left = new AbortController();
  response.once('close', () => left.abort());
});
afterEach(() => {
  socket.destroy();
  server.close();
});

const event = (n: number): SessionEvent => ({
  id: `${n}-0`,
  event: 't',
  type: 'text.delta',
  sessionId: 's',
  at: '',
  data: { text: 'x'.repeat(65_536) },
});

test('a client that does not read stops the writer, fills no memory, and is cut off', async () => {
  socket.pause();
  const sse = new SseResponse(response, left.signal, { pingMs: 10, stallMs: 200 });
  let written = 0;
  while (!left.signal.aborted) {
    await sse.write(event(++written));
    expect(response.writableLength).toBeLessThan(200_000);
  }
  sse.end();
  // The rest is in the buffers of the operating system.
  expect(written).toBeLessThan(1_000);
});

test('a slow client that reads on gets everything', async () => {
  const sse = new SseResponse(response, left.signal, { pingMs: 10_000 });
  let received = 0;
  socket.on('data', (chunk) => {
    received += String(chunk).match(/event: t\n/g)?.length ?? 0;
    socket.pause();
    setImmediate(() => socket.resume());
  });
  for (let n = 1; n <= 100; n++) await sse.write(event(n));
  sse.end();
  while (received < 100) await once(socket, 'data');
  expect(received).toBe(100);
});

test('a client that leaves while the writer waits for it frees the writer', async () => {
  socket.pause();
  const sse = new SseResponse(response, left.signal, { pingMs: 10_000 });
  setImmediate(() => socket.destroy());
  for (let n = 1; !left.signal.aborted; n++) await sse.write(event(n));
  await sse.write(event(0));
  sse.end();
});
