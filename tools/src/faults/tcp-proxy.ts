import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from './random';

/** What a link does to the bytes that pass it. */
export interface LinkFault {
  /** Every connection is cut, and new ones are refused. */
  down?: boolean;
  /** Half-open: connections stand, and nothing passes in either direction. */
  stalled?: boolean;
  /** Milliseconds that each piece waits, in each direction. */
  delayMs?: number;
  /** Bytes per second, in each direction of each connection. */
  bytesPerSecond?: number;
  /** The probability that a reply is dropped and its connection cut: the command was executed, and nobody knows. */
  dropReply?: number;
}

/** The link between one process and Redis; what goes wrong on it can be changed at any time. */
export class TcpProxy {
  private readonly pairs = new Set<readonly [Socket, Socket]>();
  private fault: LinkFault = {};
  private changed: (() => void)[] = [];

  private constructor(
    private readonly server: Server,
    private readonly target: number,
    private readonly random: Random,
  ) {
    server.on('connection', (socket) => this.link(socket));
  }

  static async start(target: number, random: Random): Promise<TcpProxy> {
    const server = createServer({ allowHalfOpen: false });
    const proxy = new TcpProxy(server, target, random);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** From now on; `{}` heals the link. */
  set(fault: LinkFault): void {
    this.fault = fault;
    if (fault.down) this.cut();
    for (const wake of this.changed.splice(0)) wake();
  }

  /** Cuts what stands; new connections are made as before. */
  cut(): void {
    for (const [client, store] of this.pairs) {
      client.destroy();
      store.destroy();
    }
  }

  async close(): Promise<void> {
    this.server.close();
    this.cut();
    await once(this.server, 'close');
  }

  private link(client: Socket): void {
    if (this.fault.down) {
      client.destroy();
      return;
    }
    const store = connect(this.target, '127.0.0.1');
    const pair = [client, store] as const;
    this.pairs.add(pair);
    const end = () => {
      this.pairs.delete(pair);
      client.destroy();
      store.destroy();
    };
    for (const socket of pair) {
      socket.setNoDelay(true);
      socket.on('error', end);
      socket.on('close', end);
    }
    void this.pump(client, store, false);
    void this.pump(store, client, true);
  }

  private async pump(from: Socket, to: Socket, isReply: boolean): Promise<void> {
    try {
      for await (const piece of from as AsyncIterable<Buffer>) {
        while (this.fault.stalled) await new Promise<void>((resolve) => this.changed.push(resolve));
        const { delayMs, bytesPerSecond, dropReply } = this.fault;
        if (isReply && dropReply !== undefined && this.random.chance(dropReply)) return void from.destroy();
        if (delayMs) await sleep(delayMs);
        if (bytesPerSecond) await sleep((piece.length / bytesPerSecond) * 1_000);
        if (!to.write(piece)) await once(to, 'drain');
      }
      to.end();
    } catch {
      // A connection that is cut in the middle is what this is for.
      to.destroy();
    }
  }
}
