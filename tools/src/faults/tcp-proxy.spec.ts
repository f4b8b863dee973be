import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Random } from './random';
import { TcpProxy } from './tcp-proxy';

let echo: Server;
let proxy: TcpProxy;
/** What has reached the other side. */
let arrived: string;
const clients: Socket[] = [];

beforeEach(async () => {
  arrived = '';
  echo = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (piece) => {
      arrived += piece;
      socket.write(piece);
    });
  }).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  proxy = await TcpProxy.start((echo.address() as AddressInfo).port, new Random(1));
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await proxy.close();
  echo.close();
});

async function open(): Promise<Socket> {
  const client = connect(Number(new URL(proxy.url).port), '127.0.0.1');
  clients.push(client);
  client.on('error', () => undefined);
  await once(client, 'connect');
  return client;
}

async function ask(client: Socket, text: string): Promise<string> {
  client.write(text);
  const [piece] = await once(client, 'data');
  return String(piece);
}

test('a whole link passes everything both ways', async () => {
  expect(await ask(await open(), 'ping')).toBe('ping');
});

test('a link that is down cuts what stands and refuses what comes', async () => {
  const client = await open();
  await ask(client, 'ping');
  proxy.set({ down: true });
  await once(client, 'close');
  await once(await open(), 'close');
  expect(arrived).toBe('ping');
});

test('a dropped reply cuts the connection after the command has arrived', async () => {
  const client = await open();
  proxy.set({ dropReply: 1 });
  client.write('do it');
  await once(client, 'close');
  expect(arrived).toBe('do it');
});

test('a stalled link holds everything back until it is healed', async () => {
  const client = await open();
  await ask(client, 'one');
  proxy.set({ stalled: true });
  client.write('two');
  const healthy = await TcpProxy.start((echo.address() as AddressInfo).port, new Random(1));
  const other = connect(Number(new URL(healthy.url).port), '127.0.0.1');
  clients.push(other);
  expect(await ask(other, 'three')).toBe('three');
  expect(arrived).toBe('onethree');
  proxy.set({});
  expect(String((await once(client, 'data'))[0])).toBe('two');
  await healthy.close();
});
