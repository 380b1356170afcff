/**
 * Runs all tests as CI does: files that fail, or use more CPU than their budget, run once more, alone. A test that passes then
 * is written down with the load and CPU of the time; written down twice, it fails the run until it is mended. A file that is
 * over its budget alone, too, fails the run: with others beside it, it also pays for what they do to the caches of the
 * processor. Prints in its last line how many passed and failed, and ends with 1 unless all did well.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { OverBudget } from '../test/support/budgets.ts';
import type { Measures } from '../test/support/suite-report.ts';
import { digestOf, type FlakyTest, noteFlaky } from './flaky-tests.ts';

interface FileResult {
  /** The path of the file. */
  name: string;
  status: 'passed' | 'failed';
  message: string;
  assertionResults: readonly { fullName: string; status: string; failureMessages: readonly string[] }[];
}

interface Run {
  /** Whether the run may pass; false also where every test passed but the run was over budget. */
  isGreen: boolean;
  passed: number;
  /** Tests, and files that could not be run. */
  failed: number;
  failedFiles: readonly FileResult[];
  /** Seconds by file. */
  cpu: ReadonlyMap<string, number>;
  overBudget: readonly OverBudget[];
}

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numRuntimeErrorTestSuites: number;
  testResults: readonly FileResult[];
}

const folder = mkdtempSync(join(tmpdir(), 'quayside-ci-'));

function runTests(name: string, args: readonly string[] = []): Run {
  const outputFile = join(folder, `${name}.json`);
  const measuresFile = join(folder, `${name}-measures.json`);
  const { status } = spawnSync('npm', ['test', '--', '--json', `--outputFile=${outputFile}`, ...args], {
    stdio: 'inherit',
    env: { ...process.env, MEASURES_FILE: measuresFile },
  });
  if (!existsSync(outputFile))
    return { isGreen: false, passed: 0, failed: 1, failedFiles: [], cpu: new Map(), overBudget: [] };
  const report = JSON.parse(readFileSync(outputFile, 'utf8')) as Report;
  const { cpu, overBudget } = JSON.parse(readFileSync(measuresFile, 'utf8')) as Measures;
  return {
    isGreen: status === 0,
    passed: report.numPassedTests,
    failed: report.numFailedTests + report.numRuntimeErrorTestSuites,
    failedFiles: report.testResults.filter(({ status: outcome }) => outcome === 'failed'),
    cpu: new Map(cpu),
    overBudget,
  };
}

/** The tests of a file that failed; the file itself where it could not be run. */
function failuresOf({ failedFiles, cpu }: Run, load: number): FlakyTest[] {
  return failedFiles.flatMap(({ name, message, assertionResults }) => {
    const file = relative('.', name);
    const common = { file, at: new Date().toISOString(), load, cpu: cpu.get(file) ?? 0, digest: digestOf(name) };
    const failed = assertionResults.filter(({ status }) => status === 'failed');
    if (failed.length === 0) return [{ ...common, test: '(the whole file)', message: message.slice(0, 2_000) }];
    return failed.map(({ fullName, failureMessages }) => ({
      ...common,
      test: fullName,
      message: failureMessages.join('\n').slice(0, 2_000),
    }));
  });
}

/** How the whole ended, with files that failed or were over budget run again alone. */
function runAll(): { isGreen: boolean; passed: number; failed: number } {
  const whole = runTests('whole');
  const failed = whole.failedFiles.map(({ name }) => relative('.', name));
  const over = whole.overBudget.flatMap(({ file }) => file ?? []);
  const files = [...new Set([...failed, ...over])];
  if (files.length === 0) return whole;
  const failures = failuresOf(whole, loadavg()[0] ?? 0);
  console.log(`\n== ${files.length} files again, alone\n`);
  const alone = runTests('alone', ['--runInBand', '--forceExit', ...files]);
  const stillFailed = new Set(failuresOf(alone, 0).map(({ file, test }) => `${file} ${test}`));
  const flaky = failures.filter(({ file, test }) => !stillFailed.has(`${file} ${test}`));
  const again = noteFlaky(flaky);
  for (const { file, test, load, cpu } of flaky)
    console.log(
      `Passed alone, and written down: ${file} › ${test} (load ${load.toFixed(1)}, ${cpu.toFixed(1)} s of CPU)`,
    );
  for (const { file, test } of again) console.log(`Written down before: ${file} › ${test} fails until it is mended.`);
  const stillFails = alone.failed + again.length;
  const isSumHeld = whole.overBudget.every(({ file }) => file !== undefined);
  return {
    isGreen: alone.isGreen && stillFails === 0 && isSumHeld,
    passed: whole.passed + whole.failed - stillFails,
    failed: stillFails,
  };
}

try {
  const { isGreen, passed, failed } = runAll();
  console.log(`\ntests: ${passed} passed, ${failed} failed`);
  if (!isGreen) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
