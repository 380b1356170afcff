import { type TestApp, testApp } from '../../support/app.ts';
import { idleEngine } from '../../support/launch.ts';
import { type RawAnswer, rawConnection } from '../../support/raw-http.ts';

const expecting = 'expect: 100-continue\r\n';

let app: TestApp;
/** A client that never sends its body; until its connection is closed, other tests run. */
let waitsForContinue: Promise<RawAnswer>;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
  const refused = rawConnection(app.url);
  refused.write(json('/api/projects', 5_000_000, expecting));
  waitsForContinue = refused.answer().then((answer) => refused.closed.then(() => answer));
  waitsForContinue.catch(() => undefined);
});
afterAll(() => app.close());

/** What a race decides shows only in many rounds, of which each sends 24 MB. */
const ROUNDS = process.env.DEEP_TESTS ? 10 : 3;

const json = (path: string, length: number, headers = '') =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n${headers}\r\n`;

test.each<[string, string, number, string, number]>([
  ['no credential', '/api/projects', 1_000, '', 401],
  ['a credential that is none', '/api/projects', 1_000, 'authorization: Bearer x\r\n', 401],
  ['a hook without a signature', '/api/hooks/host-a', 1_000, '', 401],
  ['a hook with half a signature', '/api/hooks/host-a', 1_000, 'x-hub-signature-256: sha256=abcdef\r\n', 401],
  ['a hook with a password of another form', '/api/hooks/host-b', 1_000, 'authorization: Basic YTpi\r\n', 401],
  ['a hook with a token of another form', '/api/hooks/host-c', 1_000, 'x-gitlab-token: secret\r\n', 401],
  ['a hook with a signature of another form', '/api/hooks/host-c', 1_000, 'webhook-signature: v1,x\r\n', 401],
  ['a path of nothing', '/api/nothing', 1_000, '', 404],
  ['a sign-in of more than 16 KB', '/api/auth/admin/login', 16_385, '', 413],
  ['a declared size of more than 5 MB', '/api/projects', 5 * 1024 * 1024 + 1, 'owner', 413],
])('%s is refused before the body is sent', async (_, path, length, headers, status) => {
  const connection = rawConnection(app.url);
  const credential = `authorization: Bearer ${app.owner.token}\r\n`;
  connection.write(json(path, length, headers === 'owner' ? credential : headers));
  const answer = await connection.answer();
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toBe('application/problem+json');
  expect(JSON.parse(answer.body)).toMatchObject({ status, requestId: answer.headers['x-request-id'] });
  connection.socket.destroy();
});

test('a refusal reaches a client that sends its whole body first, by whatever it is refused', async () => {
  const large = 'x'.repeat(6 * 1024 * 1024);
  const statuses = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, path, token] of [
      ['too large', '/api/projects', app.owner.token],
      ['no credential', '/api/projects', undefined],
      ['sign-in', '/api/auth/admin/login', undefined],
      ['no signature', '/api/hooks/host-a', undefined],
    ] as const) {
      const { status } = await app.as(token === undefined ? {} : { token }).send('POST', path, { rawBody: large });
      statuses.set(`${name} ${status}`, (statuses.get(`${name} ${status}`) ?? 0) + 1);
    }
  }
  expect(Object.fromEntries(statuses)).toEqual({
    'too large 413': ROUNDS,
    'no credential 401': ROUNDS,
    'sign-in 413': ROUNDS,
    'no signature 401': ROUNDS,
  });
});

test('a client that writes everything before it reads gets the refusal, and the connection is closed after it', async () => {
  const connection = rawConnection(app.url);
  const length = 16 * 1024 * 1024;
  connection.write(json('/api/projects', length));
  for (let sent = 0; sent < length; sent += 1024 * 1024) connection.write(Buffer.alloc(1024 * 1024, 0x20));
  const answer = await connection.answer();
  expect(answer).toMatchObject({ status: 401, headers: { connection: 'close' } });
  await connection.closed;
});

test('a connection survives the refusal of a small body', async () => {
  const connection = rawConnection(app.url);
  connection.write(json('/api/projects', 20));
  expect(await connection.answer()).toMatchObject({ status: 401 });
  connection.write(`${' '.repeat(20)}GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n`);
  expect(await connection.answer()).toMatchObject({ status: 200 });
  connection.socket.destroy();
});

test('a body without an end is not received for ever', async () => {
  const connection = rawConnection(app.url);
  connection.write(
    'POST /api/projects HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
  );
  const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`;
  let sent = 0;
  const more = () => {
    for (let isTaken = true; isTaken && !connection.socket.destroyed; sent++) isTaken = connection.socket.write(chunk);
  };
  connection.socket.on('drain', more);
  more();
  expect(await connection.answer()).toMatchObject({ status: 401 });
  await connection.closed;
  expect(sent).toBeLessThan(100);
});

test('who waits for 100 Continue is refused without it, and else gets it', async () => {
  expect(await waitsForContinue).toMatchObject({ status: 401 });
  const asked = rawConnection(app.url);
  asked.write(json('/api/auth/refresh', 2, expecting));
  expect(await asked.answer()).toMatchObject({ status: 100 });
  asked.write('{}');
  expect(await asked.answer()).toMatchObject({ status: 400 });
  asked.socket.destroy();
});
