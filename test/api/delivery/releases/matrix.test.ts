import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { insertApproval, insertLockTickets, insertRun, lease } from '../../../support/factories.ts';
import { engineAway } from '../../../support/launch.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: engineAway });
});
afterAll(() => app.close());

let made = 0;
/** A project with environments, through which releases travel in this order. */
async function newProject(environments: Record<string, object>) {
  const repositoryIdentifier = `acme/matrix-${++made}`;
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  const ids: Record<string, string> = {};
  for (const [orchestrationOrder, [name, more]] of Object.entries(environments).entries()) {
    const body = { repositoryIdentifier, name, category: 'release', orchestrationOrder, ...more };
    ids[name] = (await owner.post(201, '/api/environments', body)).id;
  }
  const names = { repositoryIdentifier, domain: 'core' };
  return {
    repositoryIdentifier,
    ids,
    candidate: (releaseName: string, more: object = {}): Promise<Json> =>
      owner.post(201, '/api/release-candidates', {
        ...names,
        releaseName,
        commitSha: 'abcdef0',
        value: { artifacts: { app: '1.0.0', lib: '2.0.0' } },
        ...more,
      }),
    report: (releaseName: string, environmentName: string, more: object = {}): Promise<Json> =>
      app.as(app.application).post(202, '/api/release-candidates/release-event', {
        ...names,
        releaseName,
        environmentName,
        deploymentStatus: 'Success',
        ...more,
      }),
    rollBack: (environment: string, target: string, rolledBackFrom: string) =>
      owner.post(204, '/api/releases/rollback-annotation', {
        repositoryIdentifier,
        environment,
        target,
        rolledBackFrom,
        rolledBackBy: 'dana@example.com',
      }),
    matrix: (query: Record<string, string> = {}, status = 200): Promise<Json> =>
      app
        .as(app.member)
        .get(status, `/api/releases/matrix?${new URLSearchParams({ repositoryIdentifier, ...query }).toString()}`),
    where: (): Promise<Json> =>
      app
        .as(app.member)
        .get(200, `/api/releases/where?repositoryIdentifier=${encodeURIComponent(repositoryIdentifier)}`),
  };
}

const rowNames = ({ rows }: Json): string[] => rows.map(({ releaseName }: Json) => releaseName);
const states = (matrix: Json, releaseName: string): string[] =>
  matrix.rows.find((row: Json) => row.releaseName === releaseName).cells.map(({ state }: Json): string => state);

test('each candidate is a row, newest first, with a cell for each active environment', async () => {
  const project = await newProject({ uat: {}, live: { branch: 'main' }, old: { isActive: false } });
  await project.candidate('r1');
  await project.candidate('r2');
  await project.candidate('r3', { branch: 'feature/x' });
  await project.report('r1', 'uat', { executionId: 'run-1' });
  await project.report('r2', 'uat', { packages: { app: '1.0.1' }, deploymentStatus: 'Partial' });
  await project.report('r1', 'live');
  const matrix = await project.matrix();
  expect(matrix).toMatchObject({ repositoryIdentifier: project.repositoryIdentifier, nextCursor: null, total: 3 });
  expect(matrix.columns.map(({ name }: Json) => name)).toEqual(['uat', 'live']);
  expect(rowNames(matrix)).toEqual(['r3', 'r2', 'r1']);
  expect(states(matrix, 'r3')).toEqual(['never', 'not_taken']);
  expect(states(matrix, 'r2')).toEqual(['partial', 'never']);
  expect(states(matrix, 'r1')).toEqual(['deployed', 'deployed']);
  const [r3, r2, r1] = matrix.rows;
  expect(r1).toMatchObject({
    status: 'pending',
    hold: null,
    packages: { app: '1.0.0', lib: '2.0.0' },
    isSuperseded: false,
  });
  expect(r1.cells[0]).toMatchObject({ executionId: 'run-1', by: 'app:ci', missingPackages: [] });
  expect(r2.cells[0]).toMatchObject({ missingPackages: ['app'], version: '1.0.1' });
  expect(r3.cells[0]).toEqual({
    environmentId: project.ids.uat,
    state: 'never',
    since: null,
    by: null,
    missingPackages: ['app', 'lib'],
  });
  await expect(project.where()).resolves.toMatchObject([
    { environment: 'uat', domain: 'core', releaseName: 'r2' },
    { environment: 'uat', domain: 'core', releaseName: 'r1', by: 'app:ci', since: r1.cells[0].since },
    { environment: 'live', releaseName: 'r1' },
  ]);
});

test('what a rollback and other content make of a cell is told', async () => {
  const project = await newProject({ uat: {} });
  for (const [index, releaseName] of ['r1', 'r2'].entries()) {
    await project.candidate(releaseName);
    await project.report(releaseName, 'uat', { deployedAt: new Date(Date.UTC(2026, 2, 2 + index)).toISOString() });
  }
  expect(states(await project.matrix(), 'r1')).toEqual(['installed_before']);
  await project.rollBack('uat', 'r1', 'r2');
  const after = await project.matrix();
  expect([states(after, 'r1'), states(after, 'r2')]).toEqual([['deployed'], ['rolled_back']]);
  expect(after.rows[0].cells[0]).toMatchObject({ by: 'dana@example.com', missingPackages: ['app', 'lib'] });
  await project.candidate('r1', { commitSha: 'abcdef1' });
  expect(states(await project.matrix(), 'r1')).toEqual(['other_content']);
});

test('rows are those that are asked for; what runs and what last succeeded stands, whatever its age', async () => {
  const project = await newProject({ uat: {} });
  for (const releaseName of ['r1', 'r2', 'r3', 'r4']) await project.candidate(releaseName);
  await project.report('r1', 'uat', { deployedAt: '2026-03-02T10:00:00Z' });
  await project.report('r2', 'uat', { deployedAt: '2026-03-03T10:00:00Z' });
  await project.rollBack('uat', 'r1', 'r2');
  await app.sql(
    `update release_candidate set created_at = '2026-01-01T00:00:00Z', superseded_by = 'r4' where release_name in ('r1', 'r2', 'r3') and domain = 'core'
     and project_id = (select id from project where identifier = ?)`,
    [project.repositoryIdentifier],
  );
  const usual = await project.matrix();
  expect([rowNames(usual)[0], rowNames(usual).slice(1).toSorted(), usual.total]).toEqual(['r4', ['r1', 'r2'], 3]);
  const all = await project.matrix({ includeSuperseded: 'true' });
  expect([rowNames(all).toSorted(), all.total]).toEqual([['r1', 'r2', 'r3', 'r4'], 4]);
  expect(all.rows.at(-1)).toMatchObject({ isSuperseded: true, supersededBy: 'r4' });
  const recent = await project.matrix({ from: '2026-02-01T00:00:00Z', includeSuperseded: 'true' });
  expect([rowNames(recent).toSorted(), recent.total]).toEqual([['r1', 'r2', 'r4'], 3]);
  const found = await project.matrix({ q: 'R1' });
  expect([rowNames(found), found.total]).toEqual([['r1'], 1]);
  await expect(project.matrix({ q: 'ABCDEF' })).resolves.toMatchObject({ total: 3 });
  await expect(project.matrix({ domain: 'other' })).resolves.toMatchObject({ rows: [], total: 0 });
});

test('pages follow one another while candidates are added', async () => {
  const project = await newProject({ uat: {} });
  for (let index = 0; index < 5; index++) await project.candidate(`r${index}`);
  await project.report('r0', 'uat');
  const first = await project.matrix({ limit: '2' });
  expect([rowNames(first), first.total]).toEqual([['r4', 'r3'], 5]);
  await project.candidate('r5');
  const second = await project.matrix({ limit: '2', cursor: first.nextCursor });
  expect([rowNames(second), second.total]).toEqual([['r2', 'r1'], 6]);
  const third = await project.matrix({ limit: '2', cursor: second.nextCursor });
  expect([rowNames(third), third.nextCursor]).toEqual([['r0'], null]);
  await project.matrix({ cursor: 'elsewhere' }, 400);
});

test('a cell that waits shows what waits, and a column what waits in it', async () => {
  const project = await newProject({
    uat: { promotion: { freezes: [{ from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', reason: 'Never' }] } },
    live: {},
  });
  const { repositoryIdentifier, ids } = project;
  const [uat = '', live = ''] = [ids.uat, ids.live];
  for (const releaseName of ['r1', 'r2', 'r3', 'r4']) await project.candidate(releaseName);
  await project.report('r1', 'live');
  const run = (
    releaseName: string,
    status: 'waiting_approval' | 'waiting_window' | 'waiting_lock' | 'running',
    more = {},
  ) =>
    insertRun(app, {
      repositoryIdentifier,
      requestedBy: app.member.email,
      domain: 'core',
      releaseName,
      status,
      displayStatus: status === 'running' ? 'Running' : 'Waiting',
      environmentId: live,
      ...more,
    });
  const waiting = await run('r1', 'waiting_approval');
  const approvalId = await insertApproval(app, { repositoryIdentifier, runId: waiting, environmentId: live });
  await run('r2', 'waiting_window', { environmentId: uat, nextWindowAt: '2100-01-01T00:00:00Z' });
  await run('r3', 'waiting_lock');
  const running = await run('r4', 'running', { moves: null });
  await run('r4', 'running', { taskType: 'verify-deployment', environmentId: uat });
  await insertLockTickets(app, live, [{ state: 'held', ...lease(new Date()), runId: running }, { state: 'queued' }]);
  const { columns, rows } = await project.matrix();
  const cellOf = (releaseName: string, column: number): Json =>
    rows.find((row: Json) => row.releaseName === releaseName).cells[column];
  expect(cellOf('r1', 1)).toMatchObject({
    state: 'waiting_approval',
    approvalId,
    executionId: waiting,
    by: app.member.email,
    since: expect.any(String),
    missingPackages: [],
  });
  expect(cellOf('r2', 0)).toMatchObject({ state: 'waiting_window', nextWindowAt: '2100-01-01T00:00:00.000Z' });
  expect(cellOf('r3', 1)).toMatchObject({ state: 'waiting_lock' });
  expect(cellOf('r4', 1)).toMatchObject({ state: 'running', executionId: running, since: null });
  expect(cellOf('r4', 0)).toMatchObject({ state: 'never' });
  expect(columns).toMatchObject([
    {
      name: 'uat',
      isLocked: false,
      heldBy: null,
      frozenUntil: '2100-01-01T00:00:00.000Z',
      openApprovals: 0,
      running: 1,
    },
    { name: 'live', isLocked: true, waitingLocks: 1, frozenUntil: null, openApprovals: 1, running: 1 },
  ]);
});

test('a release that is executed as a whole is in each environment whose lock it takes', async () => {
  const project = await newProject({ uat: {}, live: {} });
  const { repositoryIdentifier, ids } = project;
  const [uat = '', live = ''] = [ids.uat, ids.live];
  await project.candidate('r1');
  const whole = { repositoryIdentifier, requestedBy: app.member.email, domain: 'core', releaseName: 'r1' };
  const state = {
    taskType: 'request-release',
    status: 'running',
    displayStatus: 'Running',
    environmentId: uat,
  } as const;
  const runId = await insertRun(app, { ...whole, ...state });
  for (const id of [uat, live]) await insertLockTickets(app, id, [{ state: 'held', ...lease(new Date()), runId }]);
  const { columns, rows } = await project.matrix();
  expect(columns).toMatchObject([{ running: 1 }, { running: 1 }]);
  expect(rows[0].cells).toMatchObject([
    { state: 'running', executionId: runId },
    { state: 'running', executionId: runId },
  ]);
});

test('what is held says so where it does not run', async () => {
  const project = await newProject({ uat: {}, live: {} });
  const { id } = await project.candidate('r1');
  await project.report('r1', 'uat');
  await app.as(app.owner).post(200, `/api/release-candidates/${id}/hold`, { reason: 'Wait for legal' });
  const { rows } = await project.matrix();
  expect(rows[0]).toMatchObject({
    hold: { source: 'person', reason: 'Wait for legal', by: app.owner.email },
    cells: [
      { state: 'deployed', by: 'app:ci' },
      { state: 'held', by: app.owner.email, since: rows[0].hold.since },
    ],
  });
});

test('of more than 30 environments those that are columns are named', async () => {
  const names = Array.from({ length: 31 }, (_, index) => `e${index}`);
  const project = await newProject(Object.fromEntries(names.map((name) => [name, {}])));
  const problem = await project.matrix({}, 400);
  expect(problem.detail).toContain('environments is required');
  const some = await project.matrix({ environments: `e3,${project.ids.e1}` });
  expect(some.columns.map(({ name }: Json) => name)).toEqual(['e1', 'e3']);
  await project.matrix({ environments: names.join(',') }, 400);
  await expect(project.matrix({ environments: 'nowhere' }, 400)).resolves.toMatchObject({ code: 'invalid_request' });
});
