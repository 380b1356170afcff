import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { permittedConnector } from '../../../activities/adapters/outbound/outbound-policy.ts';
import { EgressProxy } from '../../../activities/browser-host/egress/egress-proxy.ts';
import { isPeerOf } from '../../../activities/browser-host/egress/loopback-peers.ts';
import { outboundAddresses } from '../../../domain/kernel/outbound/outbound-addresses.ts';
import { serve } from '../../support/victims.ts';

const LISTED = '127.0.0.2';
const NAMES: Record<string, string> = {
  'app.example.com': LISTED,
  'update.googleapis.com': LISTED,
  'inner.example.com': '127.0.0.1',
  'public.example.com': '93.184.216.34',
};

let lookups: string[] = [];
let requests: { url: string | undefined; headers: string[]; body: string }[] = [];
let site: Awaited<ReturnType<typeof serve>>;
let proxy: EgressProxy;
let port: number;
let usedUp = 0;
const opened: Socket[] = [];

beforeAll(async () => {
  site = await serve(LISTED, (request, response) => {
    void text(request).then((body) => requests.push({ url: request.url, headers: request.rawHeaders, body }));
    request.on('end', () => response.setHeader('x-of-site', 'yes').end('from the site'));
  });
});
afterAll(() => site.close());
beforeEach(async () => {
  [lookups, requests, usedUp] = [[], [], 0];
  proxy = proxyWith();
  port = await proxy.listenOnLoopback();
});
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
  proxy.close();
});

const proxyWith = (isPeer?: (socket: Socket) => Promise<boolean>) =>
  new EgressProxy(
    {
      addresses: outboundAddresses(`${LISTED}/32`),
      connectorFor: (policy) =>
        permittedConnector(policy, (name, done) => {
          lookups.push(name);
          const address = NAMES[name];
          if (address === undefined) done(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }), []);
          else done(null, [{ address, family: 4 }]);
        }),
    },
    { maxBytes: 100_000, onUsedUp: () => (usedUp += 1) },
    isPeer,
  );

async function open(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  opened.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** The whole answer to bytes, after which the connection ends. */
async function answerTo(bytes: string): Promise<string> {
  const socket = await open();
  socket.write(bytes);
  return text(socket);
}
const get = (url: string, more = '') =>
  answerTo(`GET ${url} HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n${more}\r\n`);
const tunnelTo = (target: string) => answerTo(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
const through = (host: string) =>
  answerTo(
    `CONNECT ${host}:${site.port} HTTP/1.1\r\n\r\nGET /in HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
  );

test('nothing is reached before it is allowed, and then what is allowed alone', async () => {
  expect(await get(`http://${LISTED}:${site.port}/`)).toMatch(/^HTTP\/1.1 403 /);
  expect(await through(LISTED)).toMatch(/^HTTP\/1.1 403 /);
  proxy.hosts.add([LISTED, '*.example.com']);
  expect(await get(`http://${LISTED}:${site.port}/`)).toContain('from the site');
  expect(await through('app.example.com')).toMatch(/^HTTP\/1.1 200 [\s\S]*from the site/);
  expect(await through('example.com')).toMatch(/^HTTP\/1.1 403 /);
  expect(await through('app.example.com.other')).toMatch(/^HTTP\/1.1 403 /);
  expect(proxy.tally.connections).toBe(2);
  expect(Object.fromEntries(proxy.tally.allowed)).toEqual({ [LISTED]: 1, 'app.example.com': 1 });
  expect(Object.fromEntries(proxy.tally.refused)).toEqual({
    [LISTED]: 2,
    'example.com': 1,
    'app.example.com.other': 1,
  });
});

test('a name is looked up once, and nothing inside is reached by one', async () => {
  proxy.hosts.add(['*.example.com', 'localhost', '127.0.0.1', '169.254.169.254']);
  expect(await through('app.example.com')).toContain('from the site');
  expect(lookups).toEqual(['app.example.com']);
  for (const host of ['inner.example.com', 'localhost', '127.0.0.1', '2130706433', '169.254.169.254'])
    expect(await tunnelTo(`${host}:443`)).toMatch(/^HTTP\/1.1 403 /);
  expect(await get('http://169.254.169.254/latest/meta-data')).toMatch(/^HTTP\/1.1 403 /);
  expect(await tunnelTo('unknown.example.com:443')).toMatch(/^HTTP\/1.1 502 /);
});

test('ports beside those of the web are for listed addresses', async () => {
  proxy.hosts.add(['public.example.com', LISTED]);
  expect(await tunnelTo('public.example.com:22')).toMatch(/^HTTP\/1.1 403 /);
  expect(await get('http://public.example.com:8080/')).toMatch(/^HTTP\/1.1 403 /);
  expect(await through(LISTED)).toContain('from the site');
});

test('the hosts that the browser asks by itself are refused, unless one is named', async () => {
  proxy.hosts.add(['*.googleapis.com']);
  expect(await through('update.googleapis.com')).toMatch(/^HTTP\/1.1 403 /);
  expect(proxy.tally.refused.size).toBe(0);
  proxy.hosts.add(['update.googleapis.com']);
  expect(await through('update.googleapis.com')).toContain('from the site');
});

test('a request is passed on with its own host, and without what is for the proxy', async () => {
  proxy.hosts.add([LISTED]);
  const answer = await get(`http://${LISTED}:${site.port}/a?b=c`, 'Proxy-Authorization: Basic x\r\nX-Kept: yes\r\n');
  expect(answer).toContain('x-of-site: yes');
  const [{ url, headers } = { url: '', headers: [] }] = requests;
  expect(url).toBe('/a?b=c');
  expect(headers.join('\n')).toContain(`host\n${LISTED}:${site.port}`);
  expect(headers.join('\n')).toContain('X-Kept\nyes');
  expect(headers.join('\n')).not.toMatch(/proxy-|elsewhere/i);
  const body = `POST http://${LISTED}:${site.port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello`;
  expect(await answerTo(body)).toContain('from the site');
  expect(requests[1]?.body).toBe('hello');
});

test.each([
  ['400', 'CONNECT nonsense HTTP/1.1\r\n\r\n'],
  ['400', 'CONNECT a@b.example:443 HTTP/1.1\r\n\r\n'],
  ['400', 'CONNECT b.example:99999 HTTP/1.1\r\n\r\n'],
  ['400', 'GET /origin-form HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
  ['400', 'GET ftp://b.example/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
  ['400', 'GET http://a:b@b.example/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
  ['400', 'no http at all\r\n\r\n'],
  ['400', `GET http://${LISTED}/ HTTP/1.1\r\nHost: x\r\nA: b\rC: d\r\n\r\n`],
  ['431', `GET http://${LISTED}/ HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(40_000)}\r\n\r\n`],
])('answered %s: %.40j', async (status, bytes) => {
  expect(await answerTo(bytes)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});

test('bytes are counted in both directions, and nothing new is opened when they are used up', async () => {
  proxy.hosts.add([LISTED]);
  const upload = `POST http://${LISTED}:${site.port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 120000\r\n\r\n`;
  await answerTo(upload + 'x'.repeat(120_000));
  expect(proxy.tally.bytes).toBeGreaterThan(120_000);
  expect(usedUp).toBe(1);
  expect(await through(LISTED)).toMatch(/^HTTP\/1.1 403 /);
  expect(usedUp).toBe(1);
});

test('200 connections are open at a time', async () => {
  const sockets = await Promise.all(Array.from({ length: 205 }, open));
  const { promise: fiveClosed, resolve } = Promise.withResolvers<void>();
  let closed = 0;
  for (const socket of sockets) socket.resume().on('close', () => ++closed === 5 && resolve());
  await fiveClosed;
  proxy.hosts.add([LISTED]);
  const [first] = sockets;
  first?.write(`CONNECT ${LISTED}:${site.port} HTTP/1.1\r\n\r\n`);
  const [answer] = (await once(first as Socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 200 /);
});

test('over loopback only the connections of its own user are served', async () => {
  proxy.hosts.add([LISTED]);
  const own = process.getuid?.() ?? 0;
  for (const [uid, served] of [
    [own, true],
    [own + 1, false],
  ] as const) {
    const other = proxyWith((socket) => isPeerOf(uid, socket));
    other.hosts.add([LISTED]);
    port = await other.listenOnLoopback();
    expect((await through(LISTED)).includes('from the site')).toBe(served);
    other.close();
  }
});
