import { readdirSync, readFileSync } from 'node:fs';

/**
 * Milliseconds of processor time that the threads of a process have used so far, those that have ended not included.
 * Exact: what `/proc/<pid>/stat` says comes in steps of 10 ms. Throws where there is no /proc.
 */
export function cpuMs(pid: number): number {
  const threads = `/proc/${pid}/task`;
  return readdirSync(threads).reduce((ms, thread) => ms + threadMs(`${threads}/${thread}/schedstat`), 0);
}

function threadMs(file: string): number {
  const [nanoseconds] = readFileSync(file, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}
