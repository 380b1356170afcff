import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { WorkerBackend } from '../../../../activities/backend.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { calendarsSweep } from '../../../../activities/orgs/org-maintenance/calendars.sweep.ts';
import { runSweep } from '../../../../activities/kernel/system/run-sweep.ts';
import { tracedRuns } from '../../../support/traced-runs.ts';
import { startWorker, type TestWorker } from '../../../support/worker.ts';

const QUEUES = ['flows-v1', 'commands-v1', 'environment-locks-v1', 'approvals-v1', 'releases-v1'];
const MINUTE_MS = 60_000;

let app: TestApp;
let crm: CrmSimulator;
let worker: TestWorker;
let activities: WorkerBackend;
let username: string;
const runs = tracedRuns(() => app, { 'execute-release': 'true' });
const { repositoryIdentifier, reached, ran } = runs;

beforeAll(async () => {
  crm = await crmSimulator([]);
  app = await testApp({ env: { COMMANDS_FILE: runs.commandsFile, OUTBOUND_ALLOW: '127.0.0.0/8' } });
  activities = activityDeps(app);
  worker = await startWorker(app, QUEUES);
  const owner = app.as(app.owner);
  const org = await crm.addOrg({ name: 'uat-org', kind: 'production' });
  ({ username } = org);
  await owner.post(201, '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
  await owner.post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration: { approvalPolicy: { skipApproval: true } },
  });
  await owner.post(201, '/api/environments', {
    repositoryIdentifier,
    name: 'uat',
    category: 'release',
    orgUsername: username.toUpperCase(),
  });
});
afterAll(async () => {
  await worker.stop();
  await activities.close();
  await app.close();
  await crm.close();
  runs.remove();
});

const inMinutes = (minutes: number): string => new Date(Date.now() + minutes * MINUTE_MS).toISOString();
const path = () => `/api/auth/crm/org/maintenance?username=${encodeURIComponent(username)}`;
const plan = (entries: object[], status = 200): Promise<Json> => app.as(app.owner).put(status, path(), { entries });
const wait = async (entries: object[]): Promise<{ id: string; note: string }> => {
  await plan(entries);
  const run = await runs.start({ id: 'execute-release', environmentName: 'uat' });
  await reached(run.id, 'waiting_window');
  return run;
};

test.each([
  ['goes on', -10],
  ['is about to begin', 10],
])('a run waits while maintenance of its org %s, and goes on as soon as that is called off', async (_, from) => {
  const to = inMinutes(60);
  const { id, note } = await wait([{ from: inMinutes(from), to, summary: 'Winter release' }]);
  await expect(app.as(app.owner).get(200, `/api/flows/runs/${id}`)).resolves.toMatchObject({
    waitsFor: expect.stringMatching(/^uat is frozen until .*: maintenance of the instance from .*Z: Winter release$/),
    nextWindowAt: to,
  });
  expect(ran(note)).toBe(0);
  await plan([]);
  await reached(id, 'succeeded');
  expect(ran(note)).toBe(1);
});

test('nothing waits for maintenance that is over, or begins later', async () => {
  await plan([
    { from: inMinutes(-60), to: inMinutes(-1), summary: 'over' },
    { from: inMinutes(60), to: inMinutes(90), summary: 'later' },
  ]);
  const { id, note } = await runs.start({ id: 'execute-release', environmentName: 'uat' });
  await reached(id, 'succeeded');
  expect(ran(note)).toBe(1);
});

test('a rehearsal says what a run would wait for', async () => {
  await plan([{ from: inMinutes(-1), to: inMinutes(60), summary: 'Patch' }]);
  const { note } = await runs.start({ id: 'execute-release', environmentName: 'uat', failOutsideWindow: true });
  expect(ran(note)).toBe(0);
  const release = { domain: 'core', releaseName: note, environmentName: 'uat', note };
  const payload = { id: 'execute-release', repositoryIdentifier, ...release };
  const { gates } = await app.as(app.owner).post(200, '/api/flows/run?dryRun=true', { payload });
  expect(gates?.window).toMatchObject({ isOpen: false, reason: expect.stringContaining('Patch') });
  await plan([]);
});

test('shows what is still to come, in order, and keeps who may set it', async () => {
  const [soon, later] = [
    { from: inMinutes(30), to: inMinutes(40), summary: 'soon' },
    { from: inMinutes(300), to: inMinutes(400), summary: 'later' },
  ];
  const over = { from: inMinutes(-30), to: inMinutes(-20), summary: 'over' };
  await expect(plan([later, over, soon])).resolves.toMatchObject({
    username,
    entries: [{ ...soon, source: 'given' }, later],
    calendar: null,
  });
  await expect(app.as(app.member).get(200, path())).resolves.toMatchObject({ entries: [soon, later] });
  await app.as(app.member).put(403, path(), { entries: [] });
  await app.as(app.stranger).get(404, path());
  await plan([{ ...soon, to: soon.from }], 400);
  await plan(Array(201).fill(soon), 400);
  const [entry] = await app.sql(
    `select after from audit_entry where action = 'org.maintenance_changed' order by sequence desc`,
  );
  expect(entry?.after).toMatchObject({ entries: [{ summary: 'later' }, { summary: 'over' }, { summary: 'soon' }] });
  await plan([]);
});

describe('a calendar', () => {
  let server: Server;
  let url: string;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  const asked: (string | undefined)[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(request.headers['if-none-match']);
      answer(request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-token.ics`;
  });
  afterAll(() => server.close());

  const stamp = (minutes: number): string => inMinutes(minutes).replaceAll(/[-:]|\.\d+/g, '');
  const ics = (from: number, to: number): string =>
    ['BEGIN:VCALENDAR', 'BEGIN:VEVENT', 'UID:1', 'SUMMARY:Site switch', `DTSTART:${stamp(from)}`, `DTEND:${stamp(to)}`]
      .concat('END:VEVENT', 'END:VCALENDAR')
      .join('\r\n');
  const gives = (text: string, headers: Record<string, string> = {}, status = 200) => {
    answer = (_, response) => response.writeHead(status, headers).end(text);
  };
  const setCalendar = (icsUrl: string | null, status = 200): Promise<Json> =>
    app.as(app.owner).put(status, path(), { entries: [], icsUrl });
  const sweep = async (): Promise<Json> => {
    await app.sql('update org_maintenance set calendar_due_at = now() where calendar_due_at is not null');
    await runSweep(activities.deps, calendarsSweep);
    return app.as(app.owner).get(200, path());
  };

  test('is read, and counts until it is read anew', async () => {
    gives(ics(-10, 60), { etag: '"one"' });
    await expect(setCalendar(url)).resolves.toMatchObject({
      entries: [],
      calendar: { host: '127.0.0.1', readAt: null, isStale: true, failure: null },
    });
    const shown = await sweep();
    expect(shown).toMatchObject({
      entries: [{ summary: 'Site switch', source: 'calendar' }],
      calendar: { isStale: false, failure: null, remarks: [] },
    });
    expect(JSON.stringify(shown)).not.toContain('secret-token');
    const rows = await app.sql('select * from org_maintenance');
    const trail = await app.sql(`select * from audit_entry where action = 'org.maintenance_changed'`);
    expect(JSON.stringify([rows, trail])).not.toContain('secret-token');
    const { id } = await runs.start({ id: 'execute-release', environmentName: 'uat' });
    expect((await reached(id, 'waiting_window')).waitsFor).toMatch(/Site switch/);
    gives('', {}, 304);
    await expect(sweep()).resolves.toMatchObject({ entries: [{ summary: 'Site switch' }] });
    expect(asked.at(-1)).toBe('"one"');
    gives(ics(300, 360), { etag: '"two"' });
    await sweep();
    await reached(id, 'succeeded');
  });

  test('that cannot be read says why, and what was read last still counts', async () => {
    gives(ics(300, 360));
    await setCalendar(url);
    await sweep();
    for (const [text, status, failure] of [
      ['no', 404, 'Its host answered 404'],
      ['<html>Sign in</html>', 200, 'It is no iCalendar file'],
      [ics(1, 2).slice(0, -5), 200, 'It breaks off before its end'],
      ['x'.repeat(1024 * 1024 + 1), 200, 'It is larger than 1 MiB'],
    ] as const) {
      gives(text, {}, status);
      await expect(sweep()).resolves.toMatchObject({
        entries: [{ summary: 'Site switch' }],
        calendar: { failure, isStale: false },
      });
    }
    await app.sql(`update org_maintenance set calendar = calendar || '{"readAt": "2026-01-01T00:00:00.000Z"}'`);
    await expect(app.as(app.owner).get(200, path())).resolves.toMatchObject({ calendar: { isStale: true } });
    await plan([]);
    await expect(app.as(app.owner).get(200, path())).resolves.toMatchObject({ calendar: { host: '127.0.0.1' } });
    await expect(setCalendar(null)).resolves.toMatchObject({ entries: [], calendar: null });
  });

  test.each([
    'http://calendar.example/a.ics',
    'https://169.254.169.254/a.ics',
    'https://user:pass@calendar.example/a',
    'ftp://a.example/',
  ])('at %s is refused', (icsUrl) => setCalendar(icsUrl, 400));
});
