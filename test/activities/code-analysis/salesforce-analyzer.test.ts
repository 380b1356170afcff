import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSalesforceAnalyzer } from '../../../activities/adapters/salesforce-analyzer.ts';

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
const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    // A process that was killed stays as a zombie until somebody asks for it.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};
async function until(isTrue: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error('it did not come about within 10 s');
    await sleep(50);
  }
}

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
  120_000,
);

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
  expect(env.toSorted()).toEqual(['HOME', 'LC_ALL', 'PATH', 'TMPDIR']);
  if (outcome.isOffline) expect(net).toEqual([]);
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

const HANGS = `import { spawn } from 'node:child_process'; import { writeFileSync } from 'node:fs';
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  writeFileSync(process.argv[3] + '/pids', process.pid + ' ' + child.pid); setInterval(() => {}, 1000);`;
const pidsIn = (folder: string): number[] => {
  const [place] = existsSync(folder) ? readdirSync(folder) : [];
  const file = join(folder, place ?? '-', 'results/pids');
  return existsSync(file) ? readFileSync(file, 'utf8').split(' ').map(Number) : [];
};

test('one that takes too long is killed with all that it started', async () => {
  const { analyzer, folder } = analyzerOf(HANGS, { timeoutMs: 1_500 });
  const place = await analyzer.open();
  const outcome = place.analyze(signal);
  await until(() => pidsIn(folder).length === 2);
  const pids = pidsIn(folder);
  await expect(outcome).resolves.toEqual({ isOk: false, reason: 'The analyzer did not end within 1.5 s' });
  await place.close();
  expect(pids.filter(isAlive)).toEqual([]);
});

test('a cancellation ends it and removes its folder', async () => {
  const { analyzer, folder } = analyzerOf(HANGS);
  const place = await analyzer.open();
  const abort = new AbortController();
  const outcome = place.analyze(abort.signal);
  await until(() => pidsIn(folder).length === 2);
  const pids = pidsIn(folder);
  abort.abort(new Error('cancelled'));
  await expect(outcome).rejects.toThrow('cancelled');
  await place.close();
  expect(pids.filter(isAlive)).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});

test('a worker that is killed leaves no process and no folder behind', async () => {
  const folder = newFolder();
  const adapter = new URL('../../../activities/adapters/salesforce-analyzer.ts', import.meta.url).href;
  const options = JSON.stringify({ folder, heapMb: 256, program: program(HANGS) });
  const code = program(
    `const { createSalesforceAnalyzer } = await import(${JSON.stringify(adapter)});
     const place = await createSalesforceAnalyzer(${options}).open();
     await place.analyze(new AbortController().signal);`,
  );
  const worker: ChildProcess = fork(code, [], { execArgv: [] });
  await until(() => pidsIn(folder).length === 2);
  const pids = pidsIn(folder);
  expect(pids.every(isAlive)).toBe(true);
  worker.kill('SIGKILL');
  await once(worker, 'exit');
  await until(() => !pids.some(isAlive) && readdirSync(folder).length === 0);
});
