import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createOutboundHttp,
  type OutboundCall,
  type OutboundHttp,
  readJson,
} from '../../../../activities/adapters/outbound/outbound-http.ts';
import { createLibraryFetch } from '../../../../activities/adapters/outbound/library-fetch.ts';
import { outboundAddresses } from '../../../../domain/kernel/outbound/outbound-addresses.ts';

const asked: Pick<IncomingMessage, 'url' | 'headers'>[] = [];
const server = createServer((request, response) => {
  const { url = '', headers } = request;
  asked.push({ url, headers });
  if (url === '/json') return void response.end('{"a":1}');
  if (url === '/large') return void response.end('x'.repeat(200));
  if (url === '/breaks') return void response.write('half', () => response.destroy());
  if (url === '/begins') return void response.write('half');
  const [, to] = /^\/to\?(.+)$/.exec(url) ?? [];
  if (to !== undefined) response.writeHead(302, { location: decodeURIComponent(to) }).end();
});
let http: OutboundHttp;
let [root, elsewhere] = ['', ''];
beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  [root, elsewhere] = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
  http = createOutboundHttp(outboundAddresses('127.0.0.0/8,::1/128'));
});
beforeEach(() => void (asked.length = 0));
afterAll(async () => {
  await http.close();
  server.closeAllConnections();
  server.close();
});

const get = (path: string, call: Partial<OutboundCall> = {}) =>
  http.send({ url: root + path, timeoutMs: 60_000, maxBytes: 100, ...call }, readJson);
const redirectTo = (address: string) => `/to?${encodeURIComponent(address)}`;

test('a reply is read', async () => {
  expect(await get('/json')).toMatchObject({ isOk: true, value: { status: 200, json: { a: 1 }, sizeBytes: 7 } });
});

test.each([
  ['a reply of more bytes than are taken', '/large', {}, 'too_large'],
  ['a reply that breaks off', '/breaks', {}, 'broken'],
  ['a reply that does not begin in time', '/silence', { timeoutMs: 50 }, 'timeout'],
  ['a reply that does not end in time', '/begins', { timeoutMs: 200 }, 'timeout'],
  ['an address that is not permitted', '', { url: 'http://10.0.0.1/' }, 'refused'],
  ['a port where nobody listens', '', { url: 'http://127.0.0.1:1/' }, 'broken'],
])('%s is a failure', async (_, path, call, kind) => {
  expect(await get(path, call)).toMatchObject({ isOk: false, kind });
});

test('a call that is aborted is a failure, before the reply and in the middle of it', async () => {
  for (const path of ['/silence', '/begins']) {
    const gone = new AbortController();
    const answer = get(path, { signal: gone.signal });
    while (asked.at(-1)?.url !== path) await new Promise((resolve) => void setImmediate(resolve));
    gone.abort();
    expect(await answer).toMatchObject({ isOk: false, kind: 'broken' });
  }
});

test('what the reader throws is thrown', async () => {
  const failing = http.send({ url: `${root}/json`, maxBytes: 100 }, () =>
    Promise.reject(new Error('the disk is full')),
  );
  await expect(failing).rejects.toThrow('the disk is full');
});

test('a redirect is a reply, unless it is followed', async () => {
  const path = redirectTo('/json');
  expect(await get(path)).toMatchObject({ value: { status: 302 } });
  expect(await get(path, { followsRedirects: true })).toMatchObject({ value: { json: { a: 1 } } });
});

test.each([
  ['refused', 'http://10.0.0.1/'],
  ['nowhere', 'http://:'],
])('a redirect is %s where it leads to %s', async (kind, address) => {
  expect(await get(redirectTo(address), { followsRedirects: true })).toMatchObject({ isOk: false, kind });
});

test('redirects have an end', async () => {
  let path = '/json';
  for (let count = 0; count < 3; count++) path = redirectTo(path);
  expect(await get(path, { followsRedirects: true })).toMatchObject({ value: { status: 200 } });
  expect(await get(redirectTo(path), { followsRedirects: true })).toMatchObject({ isOk: false, kind: 'nowhere' });
});

test('credentials go to the first origin alone', async () => {
  const call = { credentials: { 'x-key': 'secret' }, headers: { accept: 'a/b' }, followsRedirects: true };
  await get(redirectTo('/json'), call);
  await get(redirectTo(`${elsewhere}/json`), call);
  expect(asked.map(({ headers }) => [headers.accept, headers['x-key']])).toEqual([
    ['a/b', 'secret'],
    ['a/b', 'secret'],
    ['a/b', 'secret'],
    ['a/b', undefined],
  ]);
});

test('a host whose name nobody finds keeps a call no longer than its time', async () => {
  const lost = createOutboundHttp(outboundAddresses('127.0.0.0/8'), { resolve: () => undefined });
  const answer = await lost.send({ url: 'http://lost.example/', timeoutMs: 50, maxBytes: 100 }, readJson);
  expect(answer).toMatchObject({ isOk: false, kind: 'timeout' });
  expect(answer).not.toMatchObject({ code: 'UND_ERR_CONNECT_TIMEOUT' });
  await lost.close();
});

test('a stream that is cancelled before it was read ends its connection', async () => {
  const library = createLibraryFetch(outboundAddresses('127.0.0.0/8'), { maxBytes: 100, isStreamed: true });
  const ended = new Promise((resolve) => server.once('connection', (socket) => socket.once('close', resolve)));
  const { body } = await library.fetch(`${root}/begins`);
  await body?.cancel();
  await ended;
  await library.close();
});
