import { eventually } from '../support/eventually.ts';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backupCommand } from '../../tools/backup/backup-command.ts';
import { restoreCommand } from '../../tools/backup/restore-command.ts';
import { runningInstance } from '../../tools/instance-lock.ts';
import { identityOf } from '../../tools/process-table.ts';
import { ApiClient } from '../support/client.ts';
import { runCommand } from './command.ts';
import { newPlace, type Place, startService, type Service } from './service.ts';

const folder = mkdtempSync(join(tmpdir(), 'quayside-backup-'));
const backup = join(folder, 'of-today');
const OBJECT = 'objects/tenant/exports/1.csv';
const places: Place[] = [];
const services: Service[] = [];
afterAll(async () => {
  for (const service of services) {
    service.signal('SIGINT');
    await service.ended;
  }
  for (const place of places) place.remove();
  rmSync(folder, { recursive: true, force: true });
});

async function newPlaceHere(): Promise<Place> {
  const place = await newPlace();
  places.push(place);
  return place;
}
async function running({ env }: Place): Promise<Service> {
  const service = startService(env);
  services.push(service);
  await service.ready();
  return service;
}
async function signIn({ url }: Place, ownerFile: string): Promise<ApiClient> {
  const owner = JSON.parse(readFileSync(ownerFile, 'utf8'));
  const { access_token: token } = await new ApiClient(url).post(200, '/api/auth/admin/login', owner);
  return new ApiClient(url, { token });
}
async function metrics({ dataDir }: Place, path: string, body?: string): Promise<string> {
  const address = `${runningInstance(dataDir)?.metricsUrl}${path}`;
  const answer = await fetch(address, body === undefined ? {} : { method: 'POST', body });
  return answer.text();
}

test('the running service is backed up and stops in order; the backup comes back elsewhere, whole, with its keys kept apart', async () => {
  const before = await newPlaceHere();
  const service = await running(before);
  const ownerFile = join(folder, 'owner.json');
  copyFileSync(join(before.dataDir, 'owner.json'), ownerFile);
  const config = { url: 'http://127.0.0.1:9/x' };
  await (await signIn(before, ownerFile)).post(201, '/api/webhooks', {
    name: 'kept',
    event: 'release.created',
    config,
  });
  mkdirSync(join(before.dataDir, OBJECT, '..'), { recursive: true });
  writeFileSync(join(before.dataDir, OBJECT), 'a,b');
  await metrics(before, '/api/v1/import/prometheus', 'kept_total 42');
  await metrics(before, '/internal/force_flush');

  const made = await runCommand(backupCommand, [backup], before.env);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(made.stdout).toContain('It does not contain the keys (k20');
  expect(statSync(backup).mode & 0o077).toBe(0);
  const keys = readFileSync(join(before.dataDir, 'keys.json'), 'utf8');
  for (const key of Object.values(JSON.parse(keys) as Record<string, string>)) {
    const secret = key.split(':')[1] ?? '';
    const names = readdirSync(backup, { recursive: true, encoding: 'utf8' }).map((name) => join(backup, name));
    expect(names.filter((name) => statSync(name).isFile() && readFileSync(name).includes(secret))).toEqual([]);
  }
  await expect(runCommand(backupCommand, [backup], before.env)).resolves.toMatchObject({
    code: 1,
    stderr: `${backup} exists already: name a new folder.\n`,
  });
  const parts = before.leftRunning();
  service.signal('SIGINT');
  expect([await service.ended, service.stderr()]).toEqual([0, '']);
  expect(existsSync(join(before.dataDir, 'instance.json'))).toBe(false);
  expect(parts.filter((pid) => identityOf(pid) !== undefined)).toEqual([]);

  const after = await newPlaceHere();
  const refused = await runCommand(restoreCommand, [backup], after.env);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/^The keys are not here: copy keys.json/) });
  writeFileSync(join(after.dataDir, 'keys.json'), keys, { mode: 0o600 });
  const restored = await runCommand(restoreCommand, [backup], after.env);
  expect(restored).toMatchObject({ code: 0, stderr: '' });
  expect(restored.stdout).toMatch(/Audit trail of demo: \d+ entries, intact\./);
  expect(readFileSync(join(after.dataDir, OBJECT), 'utf8')).toBe('a,b');
  expect(existsSync(join(after.dataDir, 'temporal.db'))).toBe(true);
  await expect(runCommand(restoreCommand, [backup], after.env)).resolves.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('restore into an empty DATA_DIR'),
  });

  await running(after);
  const owner = await signIn(after, ownerFile);
  expect(JSON.stringify(await owner.get(200, '/api/webhooks'))).toContain('kept');
  expect(await owner.get(200, '/api/audit/verify')).toMatchObject({ isIntact: true });
  // The store does not find what it imported at once each time.
  const series = () => metrics(after, '/api/v1/export?match[]=kept_total');
  expect(await eventually(series, (text) => text !== '')).toContain('42');
});

test('a dump that cannot be made says what is missing, and a folder without a backup is not restored', async () => {
  const place = await newPlaceHere();
  const env = {
    ...place.env,
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
    METRICS_URL: 'http://127.0.0.1:1',
  };
  const outcome = await runCommand(backupCommand, [join(folder, 'none')], env);
  expect(outcome).toMatchObject({ code: 1, stderr: expect.stringMatching(/pg_dump/) });
  expect(readdirSync(folder)).not.toContain('none');
  expect(readdirSync(folder)).not.toContain('none.partial');
  await expect(runCommand(restoreCommand, [folder], place.env)).resolves.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('holds no complete backup'),
  });
});
