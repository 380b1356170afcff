import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Router from '@koa/router';
import Koa from 'koa';
import { pino } from 'pino';
import { envelope } from '../../../api/http/envelope.ts';
import { createFiles, mountConsole } from '../../../api/http/server/console-files.ts';
import { createHttpMetrics } from '../../../api/http/server/metrics.ts';
import { buildConsole } from '../../../tools/console/build.ts';

interface Chunk {
  file: string;
  isEntry?: boolean;
  imports?: string[];
  css?: string[];
}

const DIST = new URL('../../../console/dist/', import.meta.url);
let server: Server;
let url: string;
let manifest: Record<string, Chunk>;

beforeAll(async () => {
  await buildConsole(() => undefined);
  manifest = JSON.parse(readFileSync(new URL('manifest.json', DIST), 'utf8')) as typeof manifest;
  const app = new Koa();
  app.silent = true;
  app.use(envelope(pino({ level: 'silent' }), createHttpMetrics()));
  const router = new Router({ prefix: '/base' });
  mountConsole(router, 'http://quayside.test/base');
  app.use(router.routes());
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const get = (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers, redirect: 'manual' });

const KIB = 1_024;
const text = (file: string) => readFileSync(new URL(file, DIST), 'utf8');
const packedBytes = (file: string) => {
  try {
    return readFileSync(new URL(`${file}.gz`, DIST)).byteLength;
  } catch {
    // Small files have no second form.
    return readFileSync(new URL(file, DIST)).byteLength;
  }
};
/** A chunk with all that is loaded before it can run. */
const withImports = (name: string, seen = new Set<string>()): Set<string> => {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const each of manifest[name]?.imports ?? []) withImports(each, seen);
  return seen;
};
const entry = () => Object.keys(manifest).find((name) => manifest[name]?.isEntry) ?? '';
const pages = () => Object.keys(manifest).filter((name) => name.endsWith('.page.tsx'));
const sum = (names: Iterable<string>) =>
  [...names].reduce((bytes, name) => bytes + packedBytes(manifest[name]?.file ?? ''), 0);

test('the first script is at most 150 KiB packed, a first page 250, and a further one 60', () => {
  const first = withImports(entry());
  expect(sum(first)).toBeLessThanOrEqual(150 * KIB);
  expect(pages().length).toBeGreaterThan(1);
  for (const page of pages()) {
    const more = [...withImports(page)].filter((name) => !first.has(name));
    expect([page, sum(more) <= 60 * KIB]).toEqual([page, true]);
    const [name = ''] = first;
    const css = [...(manifest[name]?.css ?? []), ...(manifest[page]?.css ?? [])];
    const styles = css.reduce((bytes, file) => bytes + packedBytes(file), 0);
    expect([page, sum(first) + sum(more) + styles <= 250 * KIB]).toEqual([page, true]);
  }
});

test('the first script holds at most 40 operations of the client', () => {
  const code = [...withImports(entry())].map((name) => text(manifest[name]?.file ?? '')).join('\n');
  const operations = new Set(code.match(/url:\s*[`"']\/api\/[^`"']*/g));
  expect(operations.size).toBeGreaterThan(3);
  expect(operations.size).toBeLessThanOrEqual(40);
});

test('the page knows the path that it is served below, loads nothing from elsewhere, and is asked for anew', async () => {
  for (const path of ['/console/', '/console/runs/1?project=a']) {
    const answer = await get(`/base${path}`);
    const page = await answer.text();
    expect(page).toContain('<base href="/base/console/" />');
    expect(answer.headers.get('content-security-policy')).toMatch(
      /default-src 'none'; script-src 'self'; style-src 'self';/,
    );
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    const addresses = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address);
    expect(addresses.length).toBeGreaterThan(2);
    for (const address of addresses) expect(address).toMatch(/^(\.\/|\/base\/)/);
  }
  for (const path of ['/base/', '/base/console']) {
    const { status, headers } = await get(path);
    expect([status, headers.get('location')]).toEqual([302, '/base/console/']);
  }
});

test.each([
  ['br', 'br'],
  ['gzip', 'gzip'],
  ['identity', null],
])('a file is sent as %s to who takes it, and kept for good', async (accepted, encoding) => {
  const { file = '' } = manifest[entry()] ?? {};
  const answer = await get(`/base/console/${file}`, { 'accept-encoding': accepted });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-encoding')).toBe(encoding);
  expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(await answer.text()).toBe(text(file));
});

test('no file is read while a build writes, each is kept until the next, and a read that failed is tried again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quayside-console-'));
  const write = (name: string, content: string) => writeFileSync(join(folder, name), content);
  const files = createFiles(folder);
  const read = async (name: string) => (await files.read(name))?.toString();
  try {
    write('index.html', 'half');
    expect(await read('index.html')).toBeUndefined();
    write('index.html', 'whole');
    symlinkSync('later.js', join(folder, 'a.js'));
    write('.sources', '1');
    expect(await read('index.html')).toBe('whole');
    await expect(read('a.js')).rejects.toThrow('ENOENT');
    write('later.js', 'code');
    expect(await read('a.js')).toBe('code');
    write('index.html', 'next');
    expect(await read('index.html')).toBe('whole');
    rmSync(join(folder, '.sources'));
    expect(await read('index.html')).toBeUndefined();
    write('.sources', '2');
    expect(await read('index.html')).toBe('next');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each(['none.js', '..%2f..%2fpackage.json', '%2e%2e%2fmanifest.json', '..%2f..%2fmain.tsx'])(
  'there is no file %s',
  async (name) => {
    const { status, headers } = await get(`/base/console/assets/${name}`);
    expect([status, headers.get('content-type')]).toEqual([404, 'application/problem+json']);
  },
);
