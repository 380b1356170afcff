import { type TestApp, testApp } from '../../support/app.ts';
import { idleEngine } from '../../support/launch.ts';
import { rawConnection } from '../../support/raw-http.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
afterAll(() => app.close());

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
