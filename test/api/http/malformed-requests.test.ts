import { type TestApp, testApp } from '../../support/app.ts';
import { idleEngine } from '../../support/launch.ts';
import { type RawAnswer, rawConnection } from '../../support/raw-http.ts';

const KEEP_ALIVE_SECONDS = 3;

let app: TestApp;
/** Clients that wait for the end of their time, which passes while the other tests run. */
let late: { headers: Promise<RawAnswer>; body: Promise<RawAnswer>; idleMs: Promise<number> };
beforeAll(async () => {
  app = await testApp({
    launch: idleEngine,
    env: {
      HEADERS_TIMEOUT_SECONDS: '3',
      REQUEST_TIMEOUT_SECONDS: '4',
      KEEP_ALIVE_TIMEOUT_SECONDS: String(KEEP_ALIVE_SECONDS),
    },
  });
  late = { headers: unendingHeaders(), body: slowBody(), idleMs: idleTime() };
  for (const outcome of Object.values(late)) outcome.catch(() => undefined);
});
afterAll(() => app.close());

async function unendingHeaders(): Promise<RawAnswer> {
  const connection = rawConnection(app.url);
  connection.write('GET /healthz HTTP/1.1\r\nhost: x\r\n');
  const answer = await connection.answer();
  await connection.closed;
  return answer;
}

async function slowBody(): Promise<RawAnswer> {
  const connection = rawConnection(app.url);
  connection.write(post('transfer-encoding: chunked\r\n', ''));
  const drip = setInterval(() => connection.write('1\r\n \r\n'), 100);
  try {
    const answer = await connection.answer();
    await connection.closed;
    return answer;
  } finally {
    clearInterval(drip);
  }
}

/** Milliseconds from the last of some requests on a connection to its end. */
async function idleTime(): Promise<number> {
  const connection = rawConnection(app.url);
  let askedAt = 0;
  for (let request = 0; request < 3; request++) {
    askedAt = performance.now();
    connection.write(get('/healthz'));
    expect((await connection.answer()).status).toBe(200);
  }
  await connection.closed;
  return performance.now() - askedAt;
}

function expectProblem({ status, headers, body }: RawAnswer, expected: number): void {
  expect(status).toBe(expected);
  expect(headers['content-type']).toBe('application/problem+json');
  expect(JSON.parse(body)).toMatchObject({
    status: expected,
    requestId: headers['x-request-id'],
    type: expect.stringMatching(/^urn:quayside:problem:/),
  });
}

const get = (target: string, headers = 'host: x\r\n') => `GET ${target} HTTP/1.1\r\n${headers}\r\n`;
const post = (headers: string, body: string) =>
  `POST /api/auth/refresh HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${headers}\r\n${body}`;

test.each<[string, string]>([
  ['two Host headers', get('/healthz', 'host: x\r\nhost: y\r\n')],
  ['two Host headers that are the same', get('/healthz', 'Host: x\r\nhost: x\r\n')],
  ['a second Host header behind many others', get('/healthz', `host: x\r\n${'a:\r\n'.repeat(2_100)}host: y\r\n`)],
  ['a second Host header behind a thousand others', get('/healthz', `host: x\r\n${'a:\r\n'.repeat(1_000)}host: y\r\n`)],
  ['a Host header of two hosts', get('/healthz', 'host: x, y\r\n')],
  ['a Host header with a user', get('/healthz', 'host: x@y\r\n')],
  ['a Host header with a path', get('/healthz', 'host: x/y\r\n')],
  ['a Host header with a scheme', get('/healthz', 'host: http://x\r\n')],
  ['a Host header with a port that is none', get('/healthz', 'host: x:y\r\n')],
  ['a Host header with two ports', get('/healthz', 'host: x:1:2\r\n')],
  ['no Host header', get('/healthz', '')],
  ['Content-Length and Transfer-Encoding', post('content-length: 5\r\ntransfer-encoding: chunked\r\n', '0\r\n\r\n')],
  ['Transfer-Encoding and Content-Length', post('transfer-encoding: chunked\r\ncontent-length: 5\r\n', '0\r\n\r\n')],
  ['two Content-Length headers', post('content-length: 2\r\ncontent-length: 3\r\n', '{} ')],
  ['a list as Content-Length', post('content-length: 2, 2\r\n', '{}')],
  ['a Content-Length with a sign', post('content-length: +2\r\n', '{}')],
  ['a negative Content-Length', post('content-length: -2\r\n', '{}')],
  ['a Content-Length in hex', post('content-length: 0x2\r\n', '{}')],
  ['a Content-Length past every integer', post(`content-length: ${'9'.repeat(30)}\r\n`, '{}')],
  ['a header that is folded', get('/healthz', 'host: x\r\nx-a: b\r\n c\r\n')],
  ['white space before the colon', get('/healthz', 'host : x\r\n')],
  ['a header without a name', get('/healthz', 'host: x\r\n: y\r\n')],
  ['a header with a NUL', get('/healthz', 'host: x\r\nx-a: b\0c\r\n')],
  ['lines that end with LF alone', 'GET /healthz HTTP/1.1\nhost: x\n\n'],
  ['a lone CR in a header', get('/healthz', 'host: x\r\nx-a: b\rx-b: c\r\n')],
  ['a chunk size that is no number', post('transfer-encoding: chunked\r\n', 'zz\r\n{}\r\n0\r\n\r\n')],
  ['a chunk size with a sign', post('transfer-encoding: chunked\r\n', '-2\r\n{}\r\n0\r\n\r\n')],
  ['a chunk size with a prefix', post('transfer-encoding: chunked\r\n', '0x2\r\n{}\r\n0\r\n\r\n')],
  ['a chunk size past every integer', post('transfer-encoding: chunked\r\n', `${'f'.repeat(20)}\r\n{}\r\n0\r\n\r\n`)],
  ['a chunk longer than its size', post('transfer-encoding: chunked\r\n', '1\r\n{}\r\n0\r\n\r\n')],
  ['another transfer coding', post('transfer-encoding: gzip, chunked\r\n', '0\r\n\r\n')],
  ['chunked twice', post('transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n', '0\r\n\r\n')],
  ['chunked, and something after it', post('transfer-encoding: chunked, identity\r\n', '0\r\n\r\n')],
  ['something like chunked', post('transfer-encoding: xchunked\r\n', '0\r\n\r\n')],
  ['chunked in HTTP/1.0', post('transfer-encoding: chunked\r\n', '0\r\n\r\n').replace('HTTP/1.1', 'HTTP/1.0')],
  ['an absolute target', get('http://x/healthz')],
  ['an absolute target elsewhere', get('https://169.254.169.254/latest')],
  ['an absolute target that is no URL', get('http://[::1/healthz')],
  ['a target of two slashes', get('//healthz')],
  ['a target of two slashes and a host', get('//example.com/healthz')],
  ['a target with a fragment', get('/healthz#a')],
  ['a target with a backslash', get('/\\example.com')],
  ['a target that is no path', get('healthz')],
  ['an asterisk as target', 'OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['half a percent-encoding in the query', get('/api/users?team=%4')],
  ['a percent-encoding in the query that is none', get('/api/users?team=%zz')],
  ['a percent-encoding in the query that is no UTF-8', get('/api/users?team=%E0%A4')],
  ['an overlong percent-encoding in the query', get('/api/users?team=%C0%AF')],
  ['bytes past ASCII in the target', get('/api/users/é')],
  ['a space in the target', get('/api/us ers')],
  ['an unknown method', 'BREW /healthz HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['an unknown version', 'GET /healthz HTTP/3.7\r\nhost: x\r\n\r\n'],
  ['another protocol', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
])('%s is 400, and the connection is closed', async (_, request) => {
  const connection = rawConnection(app.url);
  connection.write(Buffer.from(request, 'latin1'));
  const answer = await connection.answer();
  expectProblem(answer, 400);
  expect(answer.headers.connection).toBe('close');
  await connection.closed;
});

test.each(['%4', '%zz', '%E0%A4', '%C0%AF', '%'])('%s in a path names nothing', async (segment) => {
  const connection = rawConnection(app.url);
  connection.write(get(`/api/users/${segment}`, `host: x\r\nauthorization: Bearer ${app.owner.token}\r\n`));
  expectProblem(await connection.answer(), 404);
  connection.socket.destroy();
});

test('headers of more than 16 KB are 431', async () => {
  for (const headers of [`x-a: ${'b'.repeat(20_000)}\r\n`, 'x-a: bbbbbbbbbb\r\n'.repeat(1_500)]) {
    const connection = rawConnection(app.url);
    connection.write(get('/healthz', `host: x\r\n${headers}`));
    expectProblem(await connection.answer(), 431);
    connection.socket.destroy();
  }
});

test('headers that do not come to an end are 408', async () => {
  expectProblem(await late.headers, 408);
});

test('a body that comes slowly is 408', async () => {
  expectProblem(await late.body, 408);
});

test('a connection that has been idle for the keep-alive time is closed, and not before', async () => {
  // Timers may be a few milliseconds early.
  expect(await late.idleMs).toBeGreaterThan(KEEP_ALIVE_SECONDS * 1_000 - 50);
});

test('nothing of a refused request is taken for the next one', async () => {
  const connection = rawConnection(app.url);
  connection.write(
    post('content-length: 6\r\ntransfer-encoding: chunked\r\n', '0\r\n\r\nGET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'),
  );
  expectProblem(await connection.answer(), 400);
  await connection.closed;
  await expect(connection.answer()).rejects.toThrow('closed');
});
