import { readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second for whoever asks through /proc. */
const TICK_MS = 10;

/**
 * Milliseconds of processor time that a process has used so far, all its threads together, in steps of 10 ms. Throws
 * where there is no /proc.
 */
export function cpuMs(pid: number): number {
  // The name of the program comes before and may hold spaces and brackets.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
