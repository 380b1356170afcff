import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withBuildLock } from '../../tools/clients/build-lock.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quayside-lock-'));
  file = join(folder, 'build.lock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function left(holder: string, ageSeconds: number): void {
  writeFileSync(file, holder);
  const at = Date.now() / 1_000 - ageSeconds;
  utimesSync(file, at, at);
}
const ended = () => String(spawnSync(process.execPath, ['--eval', '0']).pid);

test.each([
  ['of a process that ended', ended(), 0],
  ['that its holder was killed before writing', '', 11],
  ['that is older than any work', String(process.pid), 601],
])('a lock %s is taken over, by one after the other', async (_what, holder, ageSeconds) => {
  left(holder, ageSeconds);
  let running = 0;
  const most: number[] = [];
  const work = async () => {
    most.push(++running);
    expect(readFileSync(file, 'utf8')).toBe(String(process.pid));
    await sleep(1);
    running--;
  };
  await Promise.all([withBuildLock(file, work), withBuildLock(file, work), withBuildLock(file, work)]);
  expect(most).toEqual([1, 1, 1]);
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  ['of a process that lives', String(process.pid), 590],
  ['that was made just now', '', 0],
])('a lock %s is waited for', async (_what, holder, ageSeconds) => {
  left(holder, ageSeconds);
  let hasRun = false;
  const done = withBuildLock(file, async () => {
    hasRun = true;
  });
  await sleep(150);
  expect([hasRun, existsSync(file)]).toEqual([false, true]);
  rmSync(file);
  await done;
  expect(hasRun).toBe(true);
});

test('a lock that another took over meanwhile stays', async () => {
  await withBuildLock(file, async () => writeFileSync(file, '1'));
  expect(readFileSync(file, 'utf8')).toBe('1');
});
