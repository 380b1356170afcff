import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { isolationHere } from '../../../../activities/adapters/isolated/isolation.ts';
import { createSalesforceAnalyzer } from '../../../../activities/adapters/analyzer/salesforce-analyzer.ts';
import { eventually } from '../../../support/eventually.ts';

const root = mkdtempSync(join(tmpdir(), 'quayside-analysis-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const { signal } = new AbortController();
let number = 0;
const newFolder = () => join(root, String(++number));

/** A stand-in for the analyzer: a program that gets the same arguments. */
function program(code: string): string {
  const path = join(root, `program-${++number}.mjs`);
  writeFileSync(path, code);
  return path;
}
const analyzerOf = (code: string, options: object = {}) => {
  const folder = newFolder();
  return { folder, analyzer: createSalesforceAnalyzer({ folder, heapMb: 256, program: program(code), ...options }) };
};
/** Processes that have a text in their command line. One that was killed stays as a zombie, which has none. */
const running = (mark: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
      } catch {
        return false;
      }
    })
    .map(Number);
const until = (isTrue: () => boolean) => eventually(async () => isTrue(), Boolean);

const isInstalled = createSalesforceAnalyzer({ folder: root, heapMb: 1 }).whyUnavailable() === undefined;
if (!isInstalled)
  process.stderr.write('Salesforce Code Analyzer is not installed (optional dependencies): its test is skipped\n');

(isInstalled ? test : test.skip)(
  'files are analysed; configuration and packages of the repository do not run',
  async () => {
    const marker = join(root, 'evil');
    const folder = newFolder();
    const place = await createSalesforceAnalyzer({ folder, heapMb: 1_024 }).open();
    const put = (path: string, content: string) => {
      const at = join(place.folder, path);
      mkdirSync(dirname(at), { recursive: true });
      writeFileSync(at, content);
    };
    const evil = `require('node:fs').writeFileSync(${JSON.stringify(marker)}, 'x'); module.exports = {};`;
    for (const name of [
      '.eslintrc.js',
      '.eslintrc.cjs',
      'eslint.config.js',
      'eslint.config.cjs',
      'babel.config.js',
      '.babelrc.js',
    ])
      put(name, evil);
    put('eslint.config.mjs', `import 'node:fs'; ${evil.replace('module.exports =', 'export default')}`);
    put('code-analyzer.yml', 'engines:\n  eslint:\n    auto_discover_eslint_config: true\n');
    put('package.json', JSON.stringify({ name: 'evil', eslintConfig: { extends: './.eslintrc.js' } }));
    put('force-app/line\nbreak #1?.js', 'var x = 1;\n');
    const outcome = await place.analyze(signal);
    if (!outcome.isOk) throw new Error(outcome.reason);
    const sarif = await text(outcome.sarif());
    await place.close();
    expect(existsSync(marker)).toBe(false);
    expect(outcome.engines.map(({ name }) => name).toSorted()).toEqual(
      expect.arrayContaining(['eslint', 'regex', 'retire-js']),
    );
    expect(sarif).not.toContain(root);
    const { runs } = JSON.parse(sarif) as {
      runs: { results: { ruleId: string; locations: { physicalLocation: { artifactLocation: object } }[] }[] }[];
    };
    const issues = runs.flatMap(({ results }) => results);
    expect(issues.find(({ ruleId }) => ruleId === 'no-var')?.locations[0]?.physicalLocation.artifactLocation).toEqual({
      uri: 'force-app/line%0Abreak%20%231%3F.js',
      uriBaseId: 'SRCROOT',
    });
    expect(readdirSync(folder)).toEqual([]);
  },
);

test('of too many issues the first are kept, and the log says how many were found', async () => {
  const packages = join(root, 'node_modules/@salesforce/code-analyzer-core');
  mkdirSync(packages, { recursive: true });
  const results = `Array.from({ length: 25_001 }, () => ({ ruleId: 'R', message: { text: 'x' } }))`;
  writeFileSync(
    join(packages, 'index.js'),
    `exports.EventType = {}; exports.LogLevel = {}; exports.OutputFormat = {};
    exports.CodeAnalyzerConfig = { withDefaults() {} };
    exports.CodeAnalyzer = class {
      onEvent() {}
      createWorkspace() {}
      selectRules() {}
      run() {
        const driver = { name: 'pmd', semanticVersion: '1.0.0' };
        const run = { tool: { driver }, results: ${results}, invocations: [{ executionSuccessful: true }] };
        return { getEngineNames: () => ['pmd'], toFormattedOutput: () => JSON.stringify({ runs: [run] }) };
      }
    };`,
  );
  const packagesFrom = join(root, 'package.json');
  const place = await createSalesforceAnalyzer({ folder: newFolder(), heapMb: 256, packagesFrom }).open();
  const outcome = await place.analyze(signal);
  if (!outcome.isOk) throw new Error(outcome.reason);
  const { runs } = JSON.parse(await text(outcome.sarif())) as { runs: { results: object[]; properties: object }[] };
  await place.close();
  rmSync(join(root, 'node_modules'), { recursive: true });
  expect(runs[0]?.results).toHaveLength(25_000);
  expect(runs[0]?.properties).toEqual({ 'quayside/resultsFound': 25_001 });
});

test('without its packages it says what to install', () => {
  const packagesFrom = join(root, 'package.json');
  const analyzer = createSalesforceAnalyzer({ folder: newFolder(), heapMb: 256, packagesFrom });
  expect(analyzer.whyUnavailable()).toMatch(/not installed .*npm install --no-save @salesforce\/code-analyzer-core /);
});

test('the analyzer sees nothing of the environment of its worker, and no network', async () => {
  const seen = `import { writeFileSync } from 'node:fs'; import { networkInterfaces } from 'node:os';
    const results = process.argv[3];
    writeFileSync(results + '/result.sarif', JSON.stringify({ env: Object.keys(process.env), net: Object.keys(networkInterfaces()) }));
    writeFileSync(results + '/report.json', '{"engines":[],"notes":[]}');`;
  process.env.ANALYSIS_TEST_SECRET = 'secret';
  const place = await analyzerOf(seen).analyzer.open();
  const outcome = await place.analyze(signal);
  delete process.env.ANALYSIS_TEST_SECRET;
  if (!outcome.isOk) throw new Error(outcome.reason);
  const { env, net } = JSON.parse(await text(outcome.sarif())) as { env: string[]; net: string[] };
  await place.close();
  // bwrap adds the folder in which it starts.
  expect(env.filter((name) => name !== 'PWD').toSorted()).toEqual(['HOME', 'LC_ALL', 'PATH', 'TMPDIR']);
  if (outcome.isOffline) expect(net.filter((name) => name !== 'lo')).toEqual([]);
});

test.each([
  ['process.exitCode = 3; throw new Error("in /a/b/c: bad")', 'The analyzer ended with exit code 1: in …: bad'],
  ['process.kill(process.pid, "SIGKILL")', 'The analyzer was killed'],
  ['const all = []; for (;;) all.push(new Array(1e5).fill({}))', 'The analyzer ran out of memory (ANALYSIS_HEAP_MB)'],
])('%s is told of', async (code, reason) => {
  const { analyzer, folder } = analyzerOf(code, { heapMb: 32 });
  const place = await analyzer.open();
  await expect(place.analyze(signal)).resolves.toEqual({ isOk: false, reason });
  await place.close();
  expect(readdirSync(folder)).toEqual([]);
});

/** It starts another one, which has left its group where a namespace keeps both. */
const hanging = async () => `import { spawn } from 'node:child_process'; import { writeFileSync } from 'node:fs';
  const [, , files, results] = process.argv;
  const options = { detached: ${(await isolationHere()) !== 'none'}, stdio: 'inherit' };
  spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', files], options).once('spawn', () =>
    writeFileSync(results + '/started', ''));
  setInterval(() => {}, 1000);`;
const hasStarted = (folder: string): boolean => {
  const [place] = existsSync(folder) ? readdirSync(folder) : [];
  return existsSync(join(folder, place ?? '-', 'results/started')) && running(folder).length >= 2;
};

test('one that takes too long is killed with all that it started', async () => {
  let wasSeen = false;
  // On a busy machine it may not even start within the first time-out.
  for (const timeoutMs of [1_500, 15_000, 60_000]) {
    const { analyzer, folder } = analyzerOf(await hanging(), { timeoutMs });
    const place = await analyzer.open();
    let isOver = false;
    const outcome = place.analyze(signal).finally(() => (isOver = true));
    await until(() => (wasSeen ||= hasStarted(folder)) || isOver);
    const reason = `The analyzer did not end within ${timeoutMs / 1_000} s`;
    await expect(outcome).resolves.toEqual({ isOk: false, reason });
    await place.close();
    await until(() => running(folder).length === 0);
    if (wasSeen) break;
  }
  expect(wasSeen).toBe(true);
});

test('a cancellation ends it and removes its folder', async () => {
  const { analyzer, folder } = analyzerOf(await hanging());
  const place = await analyzer.open();
  const abort = new AbortController();
  const outcome = place.analyze(abort.signal);
  await until(() => hasStarted(folder));
  abort.abort(new Error('cancelled'));
  await expect(outcome).rejects.toThrow('cancelled');
  await place.close();
  await until(() => running(folder).length === 0);
  expect(readdirSync(folder)).toEqual([]);
});

test('a worker that is killed leaves no process and no folder behind', async () => {
  const folder = newFolder();
  const adapter = new URL('../../../../activities/adapters/analyzer/salesforce-analyzer.ts', import.meta.url).href;
  const options = JSON.stringify({ folder, heapMb: 256, program: program(await hanging()) });
  const code = program(
    `const { createSalesforceAnalyzer } = await import(${JSON.stringify(adapter)});
     const place = await createSalesforceAnalyzer(${options}).open();
     await place.analyze(new AbortController().signal);`,
  );
  const worker: ChildProcess = fork(code, [], { execArgv: [] });
  await until(() => hasStarted(folder));
  worker.kill('SIGKILL');
  await once(worker, 'exit');
  await until(() => running(folder).length === 0 && readdirSync(folder).length === 0);
});

test('a host that is killed takes the analyzer with it, and its folder goes', async () => {
  const { analyzer, folder } = analyzerOf(await hanging());
  const place = await analyzer.open();
  const outcome = place.analyze(signal);
  await until(() => hasStarted(folder));
  const ofThisProcess = (pid: number) =>
    readFileSync(`/proc/${pid}/status`, 'utf8').includes(`PPid:\t${process.pid}\n`);
  const host = running('isolated-host.ts').find(ofThisProcess);
  process.kill(host ?? 0, 'SIGKILL');
  await expect(outcome).resolves.toEqual({ isOk: false, reason: 'The analyzer was killed' });
  await place.close();
  await until(() => running(folder).length === 0);
  expect(readdirSync(folder)).toEqual([]);
});

test('a host that cannot be started, or make its folders, is a failure that may pass', async () => {
  const missing = analyzerOf('', { node: join(root, 'no-node') });
  await expect(missing.analyzer.open()).rejects.toMatchObject({ code: 'unavailable' });
  const full = analyzerOf('');
  // A file is in the way of whatever it makes.
  await rm(full.folder, { recursive: true, force: true });
  writeFileSync(full.folder, '');
  await expect(full.analyzer.open()).rejects.toBeDefined();
});

test('it sees no other process, and no files of the worker, as far as the system permits that', async () => {
  const isolation = await isolationHere();
  const secret = join(root, 'owner.json');
  writeFileSync(secret, 'secret');
  const { analyzer } = analyzerOf(`import { existsSync, readdirSync, writeFileSync } from 'node:fs';
    const results = process.argv[3];
    const pids = readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).length;
    writeFileSync(results + '/result.sarif', JSON.stringify({ pids, hasSecret: existsSync(${JSON.stringify(secret)}) }));
    writeFileSync(results + '/report.json', '{"engines":[],"notes":[]}');`);
  const place = await analyzer.open();
  const outcome = await place.analyze(signal);
  if (!outcome.isOk) throw new Error(outcome.reason);
  const seen = JSON.parse(await text(outcome.sarif())) as { pids: number; hasSecret: boolean };
  await place.close();
  expect(outcome.isOffline).toBe(isolation !== 'none');
  if (isolation !== 'none') expect(seen.pids).toBeLessThanOrEqual(2);
  expect(seen.hasSecret).toBe(isolation !== 'bwrap');
});
