import { openSync, writeSync } from 'node:fs';

/** What clients of the REST interface saw, as JSON lines; `t` as in the histories of the processes. */
export class ClientHistory {
  private readonly file: number;

  constructor(path: string) {
    this.file = openSync(path, 'a');
  }

  write(op: string, facts: Record<string, unknown>): void {
    const t = Number(process.hrtime.bigint()) / 1e6;
    writeSync(this.file, `${JSON.stringify({ t, proc: 'clients', op, ...facts })}\n`);
  }
}
