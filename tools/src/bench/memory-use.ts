import { resolve } from 'node:path';
import type { RunningProcess } from '../process-group';
import { until } from './clock';

/** Bytes after a collection of garbage: of the whole process, and of what its program can reach. */
export interface MemoryUse {
  rss: number;
  heapUsed: number;
}

/** Variables of a process that can be asked. */
export const MEMORY_REPORTER = {
  NODE_OPTIONS: `--expose-gc --require ${resolve(__dirname, 'processes/memory-reporter.js')}`,
};

/** Asks a process that was started with `MEMORY_REPORTER`. */
export async function memoryUse(running: RunningProcess): Promise<MemoryUse> {
  const reports = () => [...running.output().matchAll(/^memory (\{.*\})$/gm)].map(([, json]) => json);
  const known = reports().length;
  process.kill(running.pid, 'SIGUSR2');
  await until(`${running.name} tells its memory`, () => reports().length > known);
  return JSON.parse(reports()[known] ?? '') as MemoryUse;
}

/** What each of `count` things took. */
export function memoryPerPiece(before: MemoryUse, after: MemoryUse, count: number): MemoryUse {
  return { rss: (after.rss - before.rss) / count, heapUsed: (after.heapUsed - before.heapUsed) / count };
}
