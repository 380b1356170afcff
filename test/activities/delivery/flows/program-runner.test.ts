import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProgramRunner } from '../../../../activities/adapters/programs/program-runner.ts';
import { eventually } from '../../../support/worker.ts';

const run = createProgramRunner(200);
const never = new AbortController().signal;
const sh = (script: string, more: object = {}) => ({
  program: '/bin/sh',
  args: ['-c', script],
  env: {},
  timeoutSeconds: 600,
  ...more,
});
/** A program that no other run of the tests on this machine has. */
const sleep = (seconds: number) => `sleep ${seconds}.${process.pid}`;
const isRunning = (program: string): boolean =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n').includes(program);

test('what it prints is kept in order, and its exit code', async () => {
  await expect(run(sh('echo out; echo err >&2; exit 4'), never)).resolves.toEqual({
    why: 'exited',
    exitCode: 4,
    outputTail: 'out\nerr\n',
    outputBytes: 8,
    isKept: false,
  });
});

// In a process of its own: what is live in that of the tests, and how long it takes to find out, says little.
test('of a quarter of a gigabyte of output the last 64 KiB are kept, and the memory does not grow with it', () => {
  const measuring = join(import.meta.dirname, '../../../support/program-memory.ts');
  const printed = execFileSync(process.execPath, ['--expose-gc', measuring], { encoding: 'utf8' });
  const { outputTail, outputBytes, grownBy } = JSON.parse(printed) as Record<string, unknown>;
  expect(outputBytes).toBe(250_000_003);
  expect(grownBy).toBeLessThan(50_000_000);
  expect(Buffer.byteLength(String(outputTail))).toBe(65_536);
  expect(String(outputTail).endsWith('xxx\nend')).toBe(true);
});

test('all of it is handed on while it runs, and a store that fails does not stop it', async () => {
  let bytes = 0;
  const count = async (output: AsyncIterable<Uint8Array>) => {
    for await (const chunk of output) bytes += chunk.length;
  };
  await expect(run(sh('head -c 5000000 /dev/zero'), never, count)).resolves.toMatchObject({
    isKept: true,
    outputBytes: 5_000_000,
  });
  expect(bytes).toBe(5_000_000);
  const fail = () => Promise.reject(new Error('away'));
  await expect(run(sh('head -c 5000000 /dev/zero'), never, fail)).resolves.toMatchObject({
    isKept: false,
    outputBytes: 5_000_000,
    exitCode: 0,
  });
});

test('what it has printed so far is shown while it runs, without the secret that comes in two pieces', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quayside-so-far-'));
  const [goOn, end] = [join(folder, 'go-on'), join(folder, 'end')];
  const until = (file: string) => `until [ -e ${file} ]; do sleep 0.05; done`;
  const shown: [string, number][] = [];
  let isAway = true;
  const show = async ({ tail, bytes }: { tail: Uint8Array; bytes: number }) => {
    if (isAway) {
      isAway = false;
      throw new Error('away');
    }
    shown.push([Buffer.from(tail).toString(), bytes]);
  };
  const script = `printf 'one qs_se'; ${until(goOn)}; echo cret; ${until(end)}; echo two`;
  const ended = run({ ...sh(script), secret: 'qs_secret' }, never, undefined, undefined, show);
  await eventually(async () => shown.length > 0, Boolean);
  expect(shown).toEqual([['one ', 4]]);
  writeFileSync(goOn, '');
  await eventually(async () => shown.length > 1, Boolean);
  expect(shown[1]).toEqual(['one ***\n', 8]);
  writeFileSync(end, '');
  await expect(ended).resolves.toMatchObject({ outputTail: 'one ***\ntwo\n', outputBytes: 12 });
  expect(shown).toHaveLength(2);
  rmSync(folder, { recursive: true });
});

test('one that ignores SIGTERM is killed, with what it forked', async () => {
  const abort = new AbortController();
  const forked = sleep(4711);
  const ended = run(sh(`trap "" TERM; ${forked} & ${forked}; ${forked}`), abort.signal);
  await eventually(async () => isRunning(forked), Boolean);
  abort.abort();
  await expect(ended).resolves.toMatchObject({ why: 'cancelled', exitCode: null });
  expect(isRunning(forked)).toBe(false);
});

test('what it leaves behind ends with it', async () => {
  await expect(run(sh(`${sleep(4712)} & echo left`), never)).resolves.toMatchObject({
    why: 'exited',
    exitCode: 0,
    outputTail: 'left\n',
  });
  expect(isRunning(sleep(4712))).toBe(false);
});

test('a time limit ends it', async () => {
  await expect(run(sh(sleep(4713), { timeoutSeconds: 0.1 }), never)).resolves.toMatchObject({ why: 'timed_out' });
});

test('a program that is not there did not start', async () => {
  await expect(run({ ...sh(''), program: '/no/such/program' }, never)).resolves.toMatchObject({
    why: 'not_started',
    exitCode: null,
  });
});

test('nothing of the environment gets in but the path and what is given', async () => {
  const { outputTail } = await run({ ...sh(''), program: '/usr/bin/env', args: [], env: { ONE: '1' } }, never);
  expect(outputTail.split('\n').filter((line) => !/^(PATH|ONE)=/.test(line))).toEqual(['']);
});

test('when the process that runs the programs is lost, they end and count as killed; the next one has a new host', async () => {
  const hosts = () =>
    execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes('program-host.ts'))
      .map((line) => Number.parseInt(line, 10));
  const lost = run(sh(`echo begun; ${sleep(4714)}`), never);
  await eventually(async () => isRunning(sleep(4714)), Boolean);
  for (const pid of hosts()) process.kill(pid, 'SIGKILL');
  await expect(lost).resolves.toMatchObject({ why: 'exited', exitCode: null });
  await eventually(
    async () => isRunning(sleep(4714)),
    (is) => !is,
  );
  await expect(run(sh('echo again'), never)).resolves.toMatchObject({ outputTail: 'again\n' });
  expect(hosts()).toHaveLength(1);
});
