import { openSync, readFileSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tool, ToolContext } from '@mailroom/capabilities';
import { z } from 'zod';

const parameters = z.object({
  ms: z.number().int().min(0).max(10_000).default(0).describe('How long the call lasts after its effect'),
});

/**
 * Tools whose only effect is a line in a file, for tests of faults: who ran which call under which key. `effect_once`
 * must not run twice for one call, `effect_again` may, `effect_blocking` holds the whole process up for `ms` when it runs
 * for the first time under its key.
 */
export function effectTools(path: string): Tool<z.output<typeof parameters>>[] {
  const file = openSync(path, 'a');
  const write = (tool: string, { sessionId, agent, idempotencyKey }: ToolContext) => {
    writeSync(file, `${JSON.stringify({ tool, sessionId, agent, key: idempotencyKey, pid: process.pid })}\n`);
    return `effect of ${tool}`;
  };
  const tool = (name: string, idempotent: boolean, last: (ms: number, isFirst: boolean) => Promise<void> | void) => ({
    name,
    description: 'Writes a line into a file.',
    parameters,
    idempotent,
    async execute({ ms }: z.output<typeof parameters>, context: ToolContext) {
      const isFirst = !readFileSync(path, 'utf8').includes(context.idempotencyKey);
      const said = write(name, context);
      await last(ms, isFirst);
      return said;
    },
  });
  return [
    tool('effect_once', false, (ms) => sleep(ms)),
    tool('effect_again', true, (ms) => sleep(ms)),
    tool('effect_blocking', true, (ms, isFirst) => {
      if (isFirst) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    }),
  ];
}
