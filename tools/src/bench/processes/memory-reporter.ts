import { setFlagsFromString } from 'node:v8';

/**
 * Loaded before a program (`--require`, with `--expose-gc`): on SIGUSR2 it collects garbage and says on standard output
 * what memory is in use. A program that is not asked does nothing else than it would do.
 */
process.on('SIGUSR2', () => {
  // V8 closes the gaps that much work has left by itself, but only when a process has rested for some 20 s.
  setFlagsFromString('--compact-on-every-full-gc');
  for (let times = 0; times < 3; times++) globalThis.gc?.();
  setFlagsFromString('--no-compact-on-every-full-gc');
  const { heapUsed } = process.memoryUsage();
  // What was freed goes back to the system a moment later, when there is garbage again.
  setTimeout(() => {
    console.log(`memory ${JSON.stringify({ rss: process.memoryUsage.rss(), heapUsed })}`);
  }, 1_000);
});
