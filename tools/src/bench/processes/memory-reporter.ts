/**
 * Loaded before a program (`--require`, with `--expose-gc`): on SIGUSR2 it collects garbage and says on standard output
 * what memory is in use. A program that is not asked does nothing else than it would do.
 */
process.on('SIGUSR2', () => {
  for (let times = 0; times < 3; times++) globalThis.gc?.();
  // What was freed goes back to the system a moment later.
  setTimeout(() => {
    console.log(`memory ${JSON.stringify(process.memoryUsage())}`);
  }, 1_000);
});
