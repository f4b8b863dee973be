import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AppError } from '@mailroom/contracts';

/** A running process of the platform. */
export interface Service {
  /** Where it listens: `http://127.0.0.1:3000`. */
  readonly url: string;
  close(): Promise<void>;
}

/** The URL of a server that listens. */
export function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** From the signal to the end; longer only when Redis is away, since BullMQ then waits without limit. */
const STOP_MS = 10_000;

/**
 * The life of a process: starts the service, closes it on SIGTERM or SIGINT, and ends. A failed start and a close that
 * takes longer than 10 s end with exit code 1; the reason of a failed start is on standard error, without a stack
 * trace where the text already names the way out.
 */
export async function runService(name: string, start: () => Promise<Service>): Promise<void> {
  const say = (text: string) => process.stderr.write(`${name}: ${text}\n`);
  let stop: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    stop = resolve;
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, stop);
  try {
    const service = await start();
    await asked;
    setTimeout(() => {
      say(`did not stop within ${STOP_MS / 1_000} s`);
      process.exit(1);
    }, STOP_MS);
    await service.close();
    process.exit(0);
  } catch (error) {
    say(reasonOf(error));
    process.exit(1);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isPlain = error instanceof AppError || 'syscall' in error;
  return isPlain ? error.message : (error.stack ?? error.message);
}
