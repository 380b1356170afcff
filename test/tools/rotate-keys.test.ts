import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { generateKeys } from '../../domain/kernel/encryption/keys.ts';
import { type TestApp, testApp } from '../support/app.ts';

const COMMAND = join(import.meta.dirname, '../../tools/rotate-keys.ts');
const named = (name: string) => generateKeys().encryptionKeys.replace(/^[^:]+/, name);
const [oldKey, newKey] = [named('old'), named('new')];

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ env: { ENCRYPTION_KEYS: `${oldKey},${newKey}`, TOKEN_KEYS: generateKeys().tokenKeys } });
});
afterAll(() => app.close());

const rotate = (keys: string): Promise<{ code: number; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    const { NODE_OPTIONS: _, ...inherited } = process.env;
    const env = { ...inherited, DATABASE_URL: app.databaseUrl, ENCRYPTION_KEYS: keys };
    execFile(process.execPath, [COMMAND], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });

test('npm run rotate-keys re-encrypts stored secrets with the first key while the service runs, and notes it', async () => {
  const webhook = { event: 'push', name: 'x', config: { url: 'http://127.0.0.1:9/', headers: { 'x-key': 'kept' } } };
  const { id } = await app.as(app.owner).post(201, '/api/webhooks', webhook);
  const { code, stdout, stderr } = await rotate(`${newKey},${oldKey}`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({
    keyId: 'new',
    columns: expect.arrayContaining([{ table: 'webhook', column: 'headers', reencrypted: 1, unreadable: 0 }]),
  });
  const [row] = await app.sql<{ secret: string }>('select secret from webhook where id = ?', [id]);
  expect(row?.secret).toMatch(/^v1\.new\./);
  await app.as(app.owner).get(200, `/api/webhooks/${id}`);
  const noted = await app.sql(
    `select 1 from audit_entry where action = 'encryption.rotated' and entity_id = 'new' and actor ->> 'type' = 'operator'`,
  );
  expect(noted).toHaveLength(2);

  const lost = await rotate(named('third'));
  expect(lost.code).toBe(1);
  expect(lost.stderr).toContain('2 values are under keys that ENCRYPTION_KEYS does not hold');
});

test.each([
  ['', 'needs ENCRYPTION_KEYS'],
  ['nonsense', 'ENCRYPTION_KEYS is malformed'],
])('the keys %p are refused in one sentence', async (keys, sentence) => {
  const { code, stderr } = await rotate(keys);
  expect(code).toBe(1);
  expect(stderr).toContain(sentence);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});
