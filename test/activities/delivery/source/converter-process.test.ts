import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IsolatedPlace } from '../../../../activities/adapters/isolated/isolated-place.ts';
import { createSourceConverter } from '../../../../activities/adapters/source/source-converter.ts';
import { eventually } from '../../../support/eventually.ts';

const folder = mkdtempSync(join(tmpdir(), 'quayside-converter-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { signal } = new AbortController();

/** Processes that have a text in their command line. */
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

test('a program hears what it was told before it ran', async () => {
  const node = process.execPath;
  const place = await IsolatedPlace.open({ folder, subfolders: ['scratch'], node });
  const heard: string[] = [];
  place.tell('1');
  place.tell('2');
  const echo =
    "process.stdin.on('data', (lines) => { process.stdout.write(lines); if (`${lines}`.includes('2')) process.stdin.destroy(); })";
  const program = { command: [node, '-e', echo], readable: [node], cwd: place.folders.scratch, env: {} };
  await place.run({ ...program, timeoutMs: 20_000 }, signal, (line) => heard.push(line));
  await place.close();
  expect(heard).toEqual(['1', '2']);
});

test('a conversion whose process the machine kills fails, to be tried again', async () => {
  const place = await createSourceConverter({ folder }).open(signal);
  const pids = await eventually(
    async () => running(place.folders.head),
    (found) => found.length > 0,
  );
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      // It may have ended with the one before.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
  const asked = place.read('head', { files: [], directories: [], projectFile: '{}', ignored: '', ignoredPaths: [] });
  await expect(asked).rejects.toThrow('The conversion of the source was killed');
  await place.close();
});
