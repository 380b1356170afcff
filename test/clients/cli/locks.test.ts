import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestApp, testApp } from '../../support/app.ts';
import type { Json } from '../../support/client.ts';
import { sendJson, smallServer } from '../../support/clients.ts';
import { type QuaysideCommand, quaysideCommand, type RunOptions } from '../../support/quayside-command.ts';
import { eventually, startWorker, type TestWorker } from '../../support/worker.ts';

const repositoryIdentifier = 'acme/shop';

let app: TestApp;
let worker: TestWorker;
let quayside: QuaysideCommand;
let environmentId: string;
let folder: string;
beforeAll(async () => {
  app = await testApp();
  worker = await startWorker(app, ['environment-locks-v1']);
  quayside = await quaysideCommand({
    QUAYSIDE_URL: app.url,
    QUAYSIDE_TOKEN: app.application.token,
    QUAYSIDE_REPOSITORY: repositoryIdentifier,
  });
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  ({ id: environmentId } = await owner.post(201, '/api/environments', {
    repositoryIdentifier,
    name: 'uat',
    category: 'test',
  }));
  folder = mkdtempSync(join(tmpdir(), 'quayside-locks-'));
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  quayside.remove();
  rmSync(folder, { recursive: true, force: true });
});

const locks = (): Promise<Json> => app.as(app.owner).get(200, `/api/environments/${environmentId}/locks`);
const isFree = () => eventually(locks, ({ tickets }) => tickets.length === 0);
const there = (name: string) => join(folder, name);
const appears = (name: string) => eventually(async () => existsSync(there(name)), Boolean);
const locked = (script: string, ...more: string[]) => ['lock', 'run', 'uat', ...more, '--', 'sh', '-c', script];

test('a lock is taken, extended and given back by its own holder', async () => {
  await quayside.run(4, ['lock', 'extend', 'uat']);
  await quayside.run(4, ['lock', 'release', 'uat']);
  const { json: ticket } = await quayside.run(0, [
    'lock',
    'acquire',
    'UAT',
    '--lease',
    '10',
    '--reason',
    'tests',
    '--json',
  ]);
  expect(ticket).toMatchObject({ state: 'held', reason: 'tests', leaseMinutes: 10 });
  const { json: extended } = await quayside.run(0, ['lock', 'extend', 'uat', '--lease', '20', '--json']);
  expect(Date.parse(extended.expiresAt)).toBeGreaterThan(Date.parse(ticket.expiresAt));
  const asOwner: RunOptions = { env: { QUAYSIDE_TOKEN: app.owner.token } };
  // Who waits for it in vain gives up the place.
  await quayside.run(6, ['lock', 'acquire', 'uat', '--timeout', '1s'], asOwner);
  await quayside.run(4, ['lock', 'release', 'uat'], asOwner);
  expect((await locks()).tickets).toHaveLength(1);
  await quayside.run(0, ['lock', 'release', 'uat', '--ticket', ticket.ticketId]);
  await isFree();
  await quayside.run(4, ['lock', 'acquire', 'nowhere']);
});

test('a command runs while the lock is held, and the lock is given back as it ends', async () => {
  const { out } = await quayside.run(0, locked('echo deployed'));
  expect(out).toBe('deployed\n');
  await isFree();
  await quayside.run(3, locked('exit 3'));
  await quayside.run(127, ['lock', 'run', 'uat', '--', 'no-such-program']);
  await quayside.run(126, ['lock', 'run', 'uat', '--', folder]);
  await quayside.run(128 + 9, locked('kill -9 $$'));
  await isFree();
});

test('signals are passed on, and the command may end in its own way', async () => {
  for (const [signal, name] of [
    ['SIGTERM', 'TERM'],
    ['SIGINT', 'INT'],
  ] as const) {
    const { child, ended } = quayside.start(
      locked(`trap 'echo ${name}; exit 9' ${name}; touch ${there(name)}; while :; do sleep 0.1; done`),
    );
    await appears(name);
    child.kill(signal);
    expect(await ended).toMatchObject({ code: 9, out: `${name}\n` });
    await isFree();
  }
});

test('a lock that is lost ends the command and all that it started', async () => {
  // A lease of six seconds is extended every two.
  // What its leader leaves behind does not heed SIGTERM.
  const script = `(trap '' TERM; exec sleep 600) & echo $! > ${there('pid')}; touch ${there('begun')}; wait`;
  const { ended } = quayside.start(locked(script, '--lease', '0.1', '--json'));
  await appears('begun');
  const [ticket] = (await locks()).tickets;
  await app.as(app.owner).delete(204, `/api/environments/${environmentId}/locks/${ticket.ticketId}`);
  const { code, err } = await ended;
  expect(code).toBe(5);
  expect(err).toContain('"code":"lock_lost"');
  const pid = Number(readFileSync(there('pid'), 'utf8'));
  await eventually(
    async () => existsSync(`/proc/${pid}`),
    (isThere) => !isThere,
  );
});

test('a lease that is short is extended for as long as the command runs', async () => {
  const { ended } = quayside.start(
    locked(`touch ${there('long')}; until [ -e ${there('enough')} ]; do sleep 0.1; done`, '--lease', '0.05'),
  );
  await appears('long');
  const [first] = (await locks()).tickets;
  await eventually(locks, ({ tickets: [now] }) => {
    expect(now.ticketId).toBe(first.ticketId);
    return Date.parse(now.expiresAt) - Date.parse(first.expiresAt) > 3_000;
  });
  writeFileSync(there('enough'), '');
  expect((await ended).code).toBe(0);
  await isFree();
});

test('a service that fails for a moment loses no lock, and one that does not answer ends it with its lease', async () => {
  let extensions = 0;
  const between = await smallServer(async ({ method, url, headers, body }, response) => {
    const isExtension = url.endsWith('/extend');
    if (isExtension && ++extensions > 2) return;
    if (isExtension && extensions === 1)
      return sendJson(response, 500, { code: 'internal', status: 500, detail: 'no' });
    const { authorization = '', 'content-type': type = '' } = headers;
    const init = { method, headers: { authorization, 'content-type': type }, ...(body && { body }) };
    const answer = await fetch(`${app.url}${url}`, init);
    sendJson(response, answer.status, answer.status === 204 ? undefined : await answer.json());
  });
  const { code, err } = await quayside.start(locked('exec sleep 600', '--lease', '0.05', '--url', between.url)).ended;
  await between.close();
  expect(err).toContain('the lock was not extended: no');
  expect(err).toContain('The lock is lost: its lease has ended');
  expect([code, extensions]).toEqual([5, 3]);
  await isFree();
});

test('what waits for a lock and is interrupted gives its place up', async () => {
  const owner = app.as(app.owner);
  const held = await owner.post(201, `/api/environments/${environmentId}/locks`, { leaseMinutes: 10 });
  const { child, ended, said } = quayside.start(locked('true'));
  await eventually(
    async () => said(),
    (text) => text.includes('waiting at place'),
  );
  child.kill('SIGINT');
  expect((await ended).code).toBe(130);
  await eventually(locks, ({ tickets }) => tickets.length === 1 && tickets[0].ticketId === held.ticketId);
  await owner.delete(204, `/api/environments/${environmentId}/locks/${held.ticketId}`);
});
