import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPasswordRight } from '../../domain/kernel/encryption/secrets.ts';
import { adminCommand } from '../../tools/admin-command.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { type Outcome, runCommand, runProgram } from './command.ts';

let app: TestApp;

beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const admin = (args: string[], env: Record<string, string> = {}): Promise<Outcome> =>
  runCommand(adminCommand, args, { ...process.env, DATABASE_URL: app.databaseUrl, ...env });

async function answered<Body>(args: string[], env: Record<string, string> = {}): Promise<Body> {
  const { code, stdout, stderr } = await admin(args, env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Body;
}

async function refused(args: string[], env: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await admin(args, env);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  return stderr.trimEnd();
}

describe('npm run admin', () => {
  test('its program prints what a command answers, and refuses in one sentence', async () => {
    const env = { DATABASE_URL: app.databaseUrl };
    const { code, stdout, stderr } = await runProgram('admin', ['list-tenants'], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ slug: 'acme' }));
    expect(await runProgram('admin', ['list-tenants', '--nonsense'], env)).toEqual(
      await admin(['list-tenants', '--nonsense']),
    );
  });

  test('a new tenant has an owner who can sign in with the random password', async () => {
    const made = await answered<{ tenantId: string; slug: string; ownerEmail: string; password: string }>([
      'create-tenant',
      '--slug',
      'fresh',
      '--owner-email',
      'Fresh@Example.com',
    ]);
    expect(made).toEqual({
      tenantId: expect.any(String),
      slug: 'fresh',
      ownerEmail: 'fresh@example.com',
      password: expect.any(String),
    });
    await app.as().post(200, '/api/auth/admin/login', { email: made.ownerEmail, password: made.password });
    const listed = await answered<{ tenantId: string; slug: string }[]>(['list-tenants']);
    expect(listed).toContainEqual({
      tenantId: made.tenantId,
      slug: 'fresh',
      createdAt: expect.stringMatching(/^\d{4}-.*T.*\.\d{3}Z$/),
    });
  });

  test('a password that is given is used and not shown', async () => {
    const env = { OWNER_PASSWORD: 'a-long-secret-of-mine' };
    const made = await answered(['create-tenant', '--slug', 'given', '--owner-email', 'given@example.com'], env);
    expect(made).not.toHaveProperty('password');
    await app.as().post(200, '/api/auth/admin/login', { email: 'given@example.com', password: env.OWNER_PASSWORD });
  });

  test('a person who has an account keeps the password', async () => {
    const { code, stdout, stderr } = await admin([
      'create-tenant',
      '--slug',
      'second',
      '--owner-email',
      app.owner.email,
    ]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `${app.owner.email} has an account already and keeps its password.\n`,
    });
    expect(JSON.parse(stdout)).not.toHaveProperty('password');
    await app.as().post(200, '/api/auth/admin/login', { email: app.owner.email, password: app.owner.password });
  });

  test('a reset password replaces the old one', async () => {
    const { password } = await answered<{ password: string }>([
      'reset-password',
      '--tenant',
      'acme',
      '--email',
      app.member.email,
    ]);
    const [row] = await app.sql<{ password_hash: string }>('select password_hash from user_account where email = ?', [
      app.member.email,
    ]);
    expect(await isPasswordRight(row?.password_hash, password)).toBe(true);
    expect(await isPasswordRight(row?.password_hash, app.member.password)).toBe(false);
  });

  test('an application token works and expires as asked', async () => {
    const before = Date.now();
    const made = await answered<{ token: string; expiresAt: string }>([
      'create-application-token',
      '--tenant',
      'acme',
      '--name',
      'from-admin',
      '--expires-in',
      '2',
    ]);
    const days = (Date.parse(made.expiresAt) - before) / 86_400_000;
    expect(days).toBeGreaterThan(1.9);
    expect(days).toBeLessThan(2.1);
    await app.as({ token: made.token }).get(200, '/api/projects');
  });

  test('what it does is audited as the operator', async () => {
    await answered(['create-application-token', '--tenant', 'acme', '--name', 'audited']);
    const rows = await app.sql(`select 1 from audit_entry where tenant_id = ? and actor ->> 'type' = 'operator'`, [
      app.tenant.id,
    ]);
    expect(rows.length).toBeGreaterThan(0);
  });

  test('new keys are printed in the form of the environment variables', async () => {
    const keys = await answered(['create-keys']);
    expect(keys).toEqual({
      ENCRYPTION_KEYS: expect.stringMatching(/^\w+:[A-Za-z0-9+/=]{44}$/),
      TOKEN_KEYS: expect.stringMatching(/^\w+:[A-Za-z0-9+/=]{40,}$/),
    });
  });

  test.each([
    [['create-tenant', '--slug', 'acme', '--owner-email', 'a@example.com'], 'already a tenant acme'],
    [['create-tenant', '--slug', 'No Good', '--owner-email', 'a@example.com'], 'must match'],
    [['create-tenant', '--slug', 'fine', '--owner-email', 'nobody'], '--owner-email nobody'],
    [['create-tenant', '--slug', 'fine'], 'needs --owner-email'],
    [['reset-password', '--tenant', 'timeout', '--email', 'a@example.com'], 'no tenant timeout'],
    [['reset-password', '--tenant', 'acme', '--email', 'a@example.com'], 'not a member'],
    [['create-application-token', '--tenant', 'acme', '--name', 'x', '--expires-in', 'soon'], '--expires-in soon'],
    [['list-tenants', '--nonsense'], '--nonsense'],
    [['frobnicate'], 'no command frobnicate'],
    [[], 'A command is missing'],
  ])('%j is refused in one sentence', async (args, sentence) => {
    expect(await refused(args)).toContain(sentence);
  });

  test('a database that is missing, malformed or away is named', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'quayside-admin-'));
    expect(await refused(['list-tenants'], { DATABASE_URL: '', DATA_DIR: dataDir })).toContain('set DATABASE_URL');
    expect(await refused(['list-tenants'], { DATABASE_URL: 'nonsense' })).toContain('DATABASE_URL');
    expect(await refused(['list-tenants'], { DATABASE_URL: 'postgres://a:b@127.0.0.1:1/c' })).toContain(
      'DATABASE_URL names (127.0.0.1:1)',
    );
    writeFileSync(join(dataDir, 'postgresql.json'), JSON.stringify({ port: 1, password: 'x' }));
    expect(await refused(['list-tenants'], { DATABASE_URL: '', DATA_DIR: dataDir })).toContain(
      'of DATA_DIR does not answer',
    );
    rmSync(dataDir, { recursive: true });
  });
});
