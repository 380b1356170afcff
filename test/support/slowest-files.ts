import { relative } from 'node:path';

const SHOWN_FILES = 10;

/** What Jest tells a reporter at the end, as far as it is used here. */
interface RunResults {
  testResults: readonly {
    testFilePath: string;
    testResults: readonly unknown[];
    /** Milliseconds; 0 for a file that did not run. */
    perfStats: { runtime: number };
  }[];
}

/** A Jest reporter that prints the slowest files after a run of several. */
export default class SlowestFiles {
  onRunComplete(_contexts: unknown, { testResults }: RunResults): void {
    const timed = testResults.map(({ testFilePath, testResults: tests, perfStats }) => ({
      file: relative('.', testFilePath),
      tests: tests.length,
      seconds: perfStats.runtime / 1_000,
    }));
    if (timed.length < 2) return;
    const total = timed.reduce((sum, { seconds }) => sum + seconds, 0);
    const lines = timed
      .toSorted((a, b) => b.seconds - a.seconds)
      .slice(0, SHOWN_FILES)
      .map(({ file, tests, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file} (${tests} tests)`);
    process.stderr.write(`\nSlowest of ${timed.length} files (${total.toFixed(0)} s in all):\n${lines.join('\n')}\n`);
  }
}
