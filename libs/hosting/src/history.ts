import { openSync, writeSync } from 'node:fs';

/** What an action is about: ids, names and numbers, never contents. */
export type Facts = Readonly<Record<string, unknown>>;

/**
 * How an action went. One that has only `invoke` has an unknown outcome: the process died, or the answer never came.
 */
export type Phase = 'invoke' | 'ok' | 'fail';

/**
 * A file of JSON lines with all that a process did, for tests of faults. Each line is with the system before the action
 * goes on, so a kill loses none. `t` is in ms of the machine's monotonic clock, which all its processes share.
 */
export class History {
  private readonly file: number;

  /** Appends to `path`. Throws what the file system throws. */
  constructor(
    path: string,
    private readonly proc: string,
  ) {
    this.file = openSync(path, 'a');
  }

  write(phase: Phase, op: string, n: number, facts: Facts): void {
    const t = Number(process.hrtime.bigint()) / 1e6;
    writeSync(this.file, `${JSON.stringify({ t, proc: this.proc, op, phase, n, ...facts })}\n`);
  }
}
