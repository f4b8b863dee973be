const { writeSync } = require('node:fs');

/**
 * Prints `N passed, N failed` (and `, N skipped` when there are any) as the last line of the run, after Jest's own
 * summary. A file that could not be loaded counts as one failed test.
 */
class TestReporter {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const line = `${results.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
    process.once('exit', () => writeSync(1, `${line}\n`));
  }
}

module.exports = TestReporter;
