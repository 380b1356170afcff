import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { backupCommand } from '../../../tools/backup/backup-command.ts';
import { connectionOf } from '../../../tools/backup/database-dump.ts';
import { restoreCommand } from '../../../tools/backup/restore-command.ts';
import { withClient } from '../../../tools/with-client.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { idleEngine } from '../../support/launch.ts';
import { emptyDatabase, type TestDatabase } from '../../support/postgres.ts';
import { findPostgresClient } from '../../support/postgres-client.ts';
import { runCommand } from '../command.ts';

const programs = findPostgresClient();
const OBJECT = 'objects/tenant/exports/1.csv';

// Skipped where this machine has no pg_dump of the server's version and pip could take none: .ci/postgres-client then says so.
(programs === undefined ? describe.skip : describe)('with pg_dump and pg_restore', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quayside-dump-'));
  const backup = join(folder, 'backup');
  const dataDir = join(folder, 'restored');
  const keys = { ENCRYPTION_KEYS: 'k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=' };
  const PATH = [programs, process.env.PATH].join(delimiter);
  let app: TestApp;
  let target: TestDatabase;
  beforeAll(async () => {
    [app, target] = await Promise.all([testApp({ launch: idleEngine }), emptyDatabase()]);
    const owner = app.as(app.owner);
    const repositoryIdentifier = 'acme/shop';
    await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
    await owner.post(201, '/api/environments', { repositoryIdentifier, name: 'production', category: 'release' });
    const config = { url: 'http://127.0.0.1:9/x' };
    await owner.post(201, '/api/webhooks', { name: 'kept', event: 'release.created', config });
    mkdirSync(join(app.dataDir, OBJECT, '..'), { recursive: true });
    writeFileSync(join(app.dataDir, OBJECT), 'a,b');
  });
  afterAll(async () => {
    await app.close();
    await target.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  const source = () => ({ PATH, DATA_DIR: app.dataDir, DATABASE_URL: app.databaseUrl, ...keys });
  const destination = () => ({ PATH, DATA_DIR: dataDir, DATABASE_URL: target.url, ...keys });

  /** The rows of each table, as a digest that has no order, and where its sequence is. */
  const contentOf = (url: string): Promise<Record<string, string>> =>
    withClient(url, async (client) => {
      const { rows: tables } = await client.query<{ name: string }>(
        `select quote_ident(tablename) as name from pg_tables where schemaname = 'public' order by tablename`,
      );
      const contents: Record<string, string> = {};
      for (const { name } of tables) {
        const { rows } = await client.query<{ content: string }>(
          `select count(*) || ' ' || coalesce(md5(string_agg(t::text, chr(10) order by t::text)), '') as content from ${name} t`,
        );
        contents[name] = rows[0]?.content ?? '';
      }
      const { rows } = await client.query<{ name: string; at: string }>(
        `select sequencename as name, coalesce(last_value::text, 'new') as at from pg_sequences where schemaname = 'public'`,
      );
      for (const { name, at } of rows) contents[name] = at;
      return contents;
    });
  /** Tables, policies, triggers, functions and grants, as statements. */
  const schemaOf = (url: string): string => {
    const { args, env } = connectionOf(url);
    const dump = execFileSync(join(programs ?? '', 'pg_dump'), [...args, '--schema-only'], {
      env: { ...process.env, ...env },
      encoding: 'utf8',
      maxBuffer: 2 ** 27,
    });
    // A key that is another one in each dump.
    return dump.replaceAll(/^\\(un)?restrict .*$/gm, '');
  };

  test('a dump comes back table by table, and its audit trails are verified', async () => {
    const before = await contentOf(app.databaseUrl);
    const made = await runCommand(backupCommand, [backup], source());
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toMatch(/contains the database \(PostgreSQL \d+/);
    expect(readdirSync(backup).toSorted()).toEqual(['backup.json', 'database.dump', 'objects', 'roles.sql']);
    expect(readFileSync(join(backup, 'roles.sql'), 'utf8')).not.toMatch(/PASSWORD '/);

    const restored = await runCommand(restoreCommand, [backup], destination());
    expect(restored).toMatchObject({ code: 0, stderr: '' });
    expect(restored.stdout).toMatch(/Audit trail of acme: [1-9]\d* entries, intact\./);
    const after = await contentOf(target.url);
    expect(after).toEqual(before);
    expect(after).toMatchObject({
      project: expect.stringMatching(/^1 /),
      audit_entry: expect.stringMatching(/^[1-9]/),
    });
    expect(schemaOf(target.url)).toBe(schemaOf(app.databaseUrl));
    expect(readFileSync(join(dataDir, OBJECT), 'utf8')).toBe('a,b');
  });

  test('a database that is not empty is left as it is', async () => {
    const before = await contentOf(target.url);
    const refused = await runCommand(restoreCommand, [backup], { ...destination(), DATA_DIR: join(folder, 'other') });
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/^The database qs_\w+ is not empty/) });
    expect(await contentOf(target.url)).toEqual(before);
  });

  test('a trail that is not what was written is named', async () => {
    const { url, drop } = await emptyDatabase();
    try {
      await app.sql(`update audit_entry set summary = 'changed' where sequence = 1 and tenant_id = ?`, [app.tenant.id]);
      const altered = join(folder, 'altered');
      await runCommand(backupCommand, [altered], source());
      const into = { ...destination(), DATA_DIR: join(folder, 'third'), DATABASE_URL: url };
      const outcome = await runCommand(restoreCommand, [altered], into);
      expect(outcome).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^Restored, but the audit trail of acme is not what was written, at 1: /),
      });
    } finally {
      await drop();
    }
  });

  test('a program that fails says why, without the password', async () => {
    const wrong = new URL(app.databaseUrl);
    wrong.password = 'not-the-password';
    wrong.pathname = '/none';
    const outcome = await runCommand(backupCommand, [join(folder, 'none')], { ...source(), DATABASE_URL: wrong.href });
    expect(outcome).toMatchObject({ code: 1, stderr: expect.stringMatching(/^pg_dump failed: /) });
    expect(outcome.stderr).not.toContain('not-the-password');
  });
});
