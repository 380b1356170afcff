import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BrowserLife } from '../../../activities/browser-host/chromium/browser-life.ts';
import { newHostFolder, removeStaleFolders } from '../../../activities/browser-host/chromium/browser-folder.ts';
import { openPage, startLocalBrowser } from '../../support/local-browsers.ts';
import { serve } from '../../support/victims.ts';
import { eventually } from '../../support/worker.ts';

/** Ids of the processes of a session, those in namespaces of their own included; ended ones apart. */
const processesOf = (session: number): Promise<string[]> =>
  promisify(execFile)('ps', ['-o', 'stat=,pid=', '-s', String(session)]).then(
    ({ stdout }) => stdout.split('\n').filter((line) => line !== '' && !line.startsWith('Z')),
    // There is none.
    () => [],
  );
const foldersOf = (pid: number | undefined): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`browser-${pid}-`));

describe.each(['jailed', 'sandboxed'] as const)('a %s browser', (isolation) => {
  test('does not outlive a host that is killed, and the next host removes its files', async () => {
    const host = fork(new URL('../../support/allocating-process.ts', import.meta.url), [isolation]);
    const [{ pid }] = (await once(host, 'message')) as [{ pid: number }];
    const [folder = ''] = foldersOf(host.pid);
    expect((await processesOf(pid)).length).toBeGreaterThan(5);
    host.kill('SIGKILL');
    await once(host, 'exit');
    await eventually(
      () => processesOf(pid),
      (left) => left.length === 0,
    );
    expect(existsSync(join(tmpdir(), folder))).toBe(true);
    await removeStaleFolders();
    expect(foldersOf(host.pid)).toEqual([]);
  });
});

test('a browser ends when it uses too much memory', async () => {
  const browser = await startLocalBrowser({}, { limits: { memoryBytes: 800_000_000 } });
  const page = await openPage(browser.cdp);
  const filling = page.evaluate(`(() => {
      const kept = globalThis.kept = [];
      setInterval(() => kept.push(new Uint8Array(50_000_000).fill(1)), 50);
    })()`);
  filling.catch(() => undefined);
  expect(await browser.ended).toEqual({
    reason: 'resource_limit',
    detail: 'The browser used more memory than 800 MB',
  });
});

test('a browser ends when it keeps too much on disk', async () => {
  const browser = await startLocalBrowser({}, { limits: { profileBytes: 1_000 } });
  expect(await browser.ended).toEqual({ reason: 'resource_limit', detail: 'The browser kept more on disk than 0 MB' });
});

test('a browser ends when it moves too much', async () => {
  const site = await serve('127.0.0.1', (_, response) => {
    response.setHeader('content-type', 'text/html');
    response.write('<title>endless</title>');
    const timer = setInterval(() => response.write('x'.repeat(100_000)), 10);
    response.on('close', () => clearInterval(timer));
  });
  const browser = await startLocalBrowser({}, { limits: { trafficBytes: 3_000_000 } });
  const page = await openPage(browser.cdp);
  page.go(`http://127.0.0.1:${site.port}/`).catch(() => undefined);
  expect(await browser.ended).toEqual({ reason: 'resource_limit', detail: 'The browser moved more than 3 MB' });
  expect(browser.egress.allowed.get('127.0.0.1')).toBe(1);
  await site.close();
});

test('a browser that is closed, or crashes, says so', async () => {
  const closed = await startLocalBrowser();
  // It may end before its answer is written: whoever asked then learns that it is gone.
  await closed.cdp.send('Browser.close').catch((error: Error) => expect(error.message).toBe('The browser is gone'));
  expect(await closed.ended).toEqual({ reason: 'browser_closed', detail: null });
  const crashed = await startLocalBrowser();
  await expect(crashed.cdp.send('Browser.crash')).rejects.toThrow('gone');
  expect(await crashed.ended).toMatchObject({ reason: 'provider_error', detail: expect.stringContaining('crashed') });
});

test('a folder that cannot be removed keeps no browser from having ended', async () => {
  const life = new BrowserLife(join(tmpdir(), 'x'.repeat(300)), () => undefined);
  life.kill({ reason: 'stopped', detail: null });
  expect(await life.ended).toEqual({ reason: 'stopped', detail: null });
});

test('folders of processes that go on stay, those of a process that had their id before do not', async () => {
  const stale = ['browser', 'recordings'].map((kind) => join(tmpdir(), `${kind}-${process.pid}-1-abcdef`));
  const other = join(tmpdir(), 'browser-of-somebody-else');
  for (const each of [...stale, other]) mkdirSync(each, { recursive: true });
  const recordings = await newHostFolder('recordings');
  const browser = await startLocalBrowser();
  await removeStaleFolders();
  expect([...stale, other, recordings].map((each) => existsSync(each))).toEqual([false, false, true, true]);
  expect(foldersOf(process.pid)).toHaveLength(1);
  rmSync(recordings, { recursive: true });
  browser.kill({ reason: 'stopped', detail: null });
  await browser.ended;
});
