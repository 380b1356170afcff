import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { hold, isHeld } from '../../tools/programs/hold.ts';
import { lineTable, placeIn } from '../../tools/programs/line-table.ts';
import { findBundles, makeBundles, programFile, PROGRAMS, bundlesFolder } from '../../tools/programs/programs.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quayside-programs-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const run = (args: readonly string[], env: Record<string, string>) =>
  spawnSync(process.execPath, args, { encoding: 'utf8', env: { PATH: process.env.PATH ?? '', ...env } });

test('a source that changes gives other bundles, though its size and times stay', () => {
  const sources = {
    'api/main.ts': 'a',
    'domain/kernel/one.ts': 'b',
    'activities/main.ts': 'c',
    'workflows/index.ts': 'd',
    'package-lock.json': '{}',
    'node_modules/.package-lock.json': '{}',
    'tsconfig.json': '{}',
    'tools/programs/bundle-programs.ts': 'e',
    'tools/programs/line-table.ts': 'f',
    'tools/programs/programs.ts': 'h',
    'tools/programs/stacks.ts': 'g',
  };
  for (const [file, text] of Object.entries(sources)) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const of = () => bundlesFolder(folder, '/kept');
  const before = of();
  expect(of()).toBe(before);
  for (const file of Object.keys(sources)) {
    const path = join(folder, file);
    const [text, { atime, mtime }] = [readFileSync(path, 'utf8'), statSync(path)];
    writeFileSync(path, text.replace(/.$/, 'z'));
    utimesSync(path, atime, mtime);
    expect([file, of()]).not.toEqual([file, before]);
    writeFileSync(path, text);
  }
  expect(of()).toBe(before);
  // What Emacs keeps beside a file that is edited.
  symlinkSync('ada@host.1234', join(folder, 'domain/kernel/.#one.ts'));
  expect(of()).toBe(before);
  // A file more, or one that was moved.
  writeFileSync(join(folder, 'domain/kernel/two.ts'), '');
  expect(of()).not.toBe(before);
});

test('bundling that fails is said in one line', async () => {
  const said: string[] = [];
  const gone = () => bundlesFolder(folder, '/kept');
  expect(await makeBundles((line) => said.push(line), gone)).toBe(false);
  writeFileSync(join(folder, 'file'), '');
  expect(
    await makeBundles(
      (line) => said.push(line),
      () => join(folder, 'file/programs/0123456789abcdef'),
    ),
  ).toBe(false);
  const begin = 'The programs could not be bundled, and run from their sources: ';
  expect(said).toEqual(['ENOENT', 'EEXIST'].map((code) => expect.stringMatching(`^${begin}${code}: .+$`)));
});

test('bundles stay while a process holds them', () => {
  expect(isHeld(folder)).toBe(false);
  const { pid: ended } = spawnSync(process.execPath, ['--eval', '0']);
  writeFileSync(join(folder, `held-by-${ended}`), '');
  expect(isHeld(folder)).toBe(false);
  expect(hold(folder)).toBe(true);
  expect(isHeld(folder)).toBe(true);
  expect(hold(join(folder, 'gone'))).toBe(false);
});

test('a table of lines answers the source and its line, the last part before the column counts', () => {
  // Line 1: two parts of a.ts; line 2: nothing; line 3: from its fifth column on line 18 of b.ts.
  const table = lineTable({ sources: ['a.ts', 'b.ts'], mappings: 'AAAA,EAAE,GACF;;ICgBA' });
  expect(placeIn(table, 1, 1)).toBe('a.ts:1');
  expect(placeIn(table, 1, 4)).toBe('a.ts:1');
  expect(placeIn(table, 1, 6)).toBe('a.ts:2');
  expect(placeIn(table, 2, 1)).toBeUndefined();
  expect(placeIn(table, 3, 4)).toBeUndefined();
  expect(placeIn(table, 3, 5)).toBe('b.ts:18');
  expect(placeIn(table, 99, 1)).toBeUndefined();
});

describe('the bundles of these sources', () => {
  let bundles: string | undefined;
  beforeAll(async () => {
    await makeBundles((line) => process.stderr.write(`${line}\n`));
    bundles = findBundles();
  });

  test.each(PROGRAMS)('%s loads, and says what it misses', (program) => {
    const bundled = programFile(program, bundles);
    expect(bundled).not.toBe(programFile(program, undefined));
    const { stderr, status } = run([bundled], {});
    expect([status, stderr]).toEqual([1, 'The environment variable DATABASE_URL is missing.\n']);
  });

  test('every part that is loaded later loads', () => {
    const programs = new Set(PROGRAMS.map((program) => programFile(program, bundles)));
    const parts = readdirSync(bundles ?? '', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.js'))
      .map((name) => join(bundles ?? '', name))
      .filter((file) => !programs.has(file));
    expect(parts.length).toBeGreaterThan(10);
    const imports = parts.map((file) => `await import(${JSON.stringify(pathToFileURL(file).href)});`).join('\n');
    const { stderr, status } = run(['--input-type=module', '--eval', `${imports}\nprocess.exit(0);`], {});
    expect([status, stderr]).toEqual([0, '']);
  });

  test('the stack of an error names lines of the sources', () => {
    const failing = 'import { Server } from "node:net"; Server.prototype.listen = () => { throw new Error("none") };';
    const env = {
      NODE_ENV: 'test',
      METRICS_PORT: '0',
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
      TEMPORAL_ADDRESS: '127.0.0.1:1',
    };
    const args = ['--import', `data:text/javascript,${failing}`, programFile('api/main.ts', bundles)];
    const { stderr } = run(args, env);
    expect(stderr).toMatch(/^Error: none\n {4}at /);
    const [, url = '', line] = /\bfile:(\S+\/api\/main\.ts):(\d+)/.exec(stderr) ?? [];
    expect(readFileSync(fileURLToPath(`file:${url}`), 'utf8').split('\n')[Number(line) - 1]).toContain(
      '.listen(config.PORT',
    );
    expect(stderr).not.toContain(bundles);
  });
});
