import { type ModelSimulator, modelSimulator } from '../../../simulators/models/simulator.ts';
import { onRepository, type ReportedProject, reportedProject } from '../../../support/ai-reports.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { historiesOf } from '../../../support/histories.ts';
import { refresh, settled, useModel } from '../../../support/model-reports.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

let app: TestApp;
let models: ModelSimulator;
let worker: TestWorker;
let integration: Json;
let project: ReportedProject;
beforeAll(async () => {
  models = await modelSimulator();
  app = await testApp();
  worker = await startWorker(app, ['ai-v1']);
  integration = await useModel(app, models);
});
beforeEach(async () => {
  models.reset();
  project = await reportedProject(app);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  await models.close();
});

const generated = async (query: object = {}): Promise<Json> => {
  await refresh(app, project, query);
  return settled(project);
};
const latest = () => project.get('/latest', onRepository);
const running = () =>
  eventually(
    async () => models.requests.length,
    (count) => count > 0,
  );

test('a report has the facts, and what the model makes of them with citations', async () => {
  const asked = await refresh(app, project);
  expect(asked).toEqual({ taskExecutionId: expect.any(String), status: 'generating', cached: false });
  const { taskExecutionId } = asked;
  await expect(settled(project)).resolves.toMatchObject({
    status: 'completed',
    taskExecutionId,
    reportId: taskExecutionId,
  });
  const report = await latest();
  expect(report).toMatchObject({ provider: 'openai', model: 'm-1', status: 'completed', error: null, taskExecutionId });
  expect(report.usage.input).toBeGreaterThan(0);
  expect(report.cost).toBeCloseTo((report.usage.input + 10 * report.usage.output) / 1_000_000, 9);
  expect(report.markdownReport).toMatch(/## Facts\n\n- \*\*F1\*\*[^]*## Assessment[^]*Simulated: risk \(F1, F2\)/);
  const [{ system, messages }] = models.requests as [Json];
  const [, boundary] = /^BEGIN FACTS (\w{32})$/m.exec(messages[0].text) ?? [];
  expect(system).toContain(`END FACTS ${boundary}`);
  const { items } = await app.as(app.owner).get(200, `/api/audit?entityId=${taskExecutionId}`);
  expect(items.map(({ action, actor }: Json) => [action, actor.email])).toEqual([
    ['ai_report.completed', 'system:ai-report'],
    ['ai_report.requested', app.member.email],
  ]);
});

test('the same facts, prompt and model give the report that there is, unless it is forced', async () => {
  const { taskExecutionId } = await refresh(app, project);
  await settled(project);
  await expect(refresh(app, project)).resolves.toEqual({ taskExecutionId, status: 'completed', cached: true });
  expect(models.requests).toHaveLength(1);
  const forced = await refresh(app, project, { force: 'true' });
  expect(forced).toMatchObject({ cached: false });
  expect(forced.taskExecutionId).not.toBe(taskExecutionId);
  await settled(project);
  await generated({ model: 'm-2' });
  expect(models.requests.map(({ model }) => model)).toEqual(['m-1', 'm-1', 'm-2']);
  // Another fact.
  const { repositoryIdentifier } = project;
  await app.as(app.application).post(201, '/api/release-candidates', {
    repositoryIdentifier,
    domain: 'core',
    releaseName: '1',
    commitSha: 'a'.repeat(40),
    value: { artifacts: { app: '1.0.0-1' } },
  });
  await app.sql(`update release_candidate set status = 'finalized' where project_id = ?`, [project.id]);
  await expect(refresh(app, project)).resolves.toMatchObject({ cached: false });
  await settled(project);
  expect((await latest()).markdownReport).toContain('Release 1 of domain core');
});

test('facts alone, without any model', async () => {
  await generated({ provider: 'local' });
  expect(models.requests).toEqual([]);
  const report = await latest();
  expect(report).toMatchObject({ provider: 'local', model: null, usage: null, cost: null });
  expect(report.markdownReport).toContain('no language model was asked');
  await expect(refresh(app, project, { provider: 'local' })).resolves.toMatchObject({ cached: true });
});

const cancel = (status = 202, as = app.member) =>
  app
    .as(as)
    .post(
      status,
      `/api/ai-reports/cancel?${new URLSearchParams({ repositoryIdentifier: project.repositoryIdentifier, ...onRepository })}`,
    );

test('a second call gets the generation that runs, which is cancelled: the stream ends', async () => {
  models.always({ kind: 'trickle', everyMs: 50 });
  const { taskExecutionId } = await refresh(app, project);
  await expect(refresh(app, project, { model: 'm-2' })).resolves.toMatchObject({ taskExecutionId, cached: false });
  await running();
  await expect(cancel()).resolves.toEqual({ taskExecutionId, status: 'generating' });
  await expect(settled(project)).resolves.toMatchObject({
    status: 'failed',
    error: expect.stringMatching(/^cancelled: /),
  });
  await eventually(
    async () => models.aborted,
    (count) => count === 1,
  );
  expect(models.requests).toHaveLength(1);
  const [report] = await project.get('/history', onRepository);
  expect(report.usage.output).toBeGreaterThan(0);
  await project.get('/latest', onRepository, 404);
  await cancel(404);
  await cancel(400, app.stranger);
});

test('JSON that is invalid is repaired once', async () => {
  models.next({ kind: 'invalid-json' });
  await expect(generated()).resolves.toMatchObject({ status: 'completed' });
  const [, repair] = models.requests;
  expect(repair?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  expect(repair?.messages.at(-1)?.text).toContain('The answer is not JSON');
  // Each call has a boundary of its own.
  const boundaries = models.requests.map(({ messages }) => messages[0]?.text.split('\n')[0]);
  expect(new Set(boundaries).size).toBe(2);
});

test('JSON that is invalid twice fails the report', async () => {
  models.always({ kind: 'invalid-json' });
  await expect(generated()).resolves.toMatchObject({
    status: 'failed',
    error: expect.stringMatching(/^invalid_answer: /),
  });
  expect(models.requests).toHaveLength(2);
});

test('claims with invented citations are dropped, and hostile Markdown is text', async () => {
  models.next({ kind: 'invented-citations' });
  await generated();
  const { markdownReport } = await latest();
  expect(markdownReport).toContain('Partly invented: risk (F1)');
  expect(markdownReport).not.toContain('Uncited');
  expect(markdownReport).toContain('3 claims without a valid citation were dropped.');
  models.next({ kind: 'hostile-markdown' });
  await generated({ force: 'true' });
  expect((await latest()).markdownReport).not.toMatch(/(?<!\\)(?:[<[`|]|:\/\/)/);
});

test.each([
  [{ kind: 'refusal' }, 'refused'],
  [{ kind: 'length' }, 'length'],
  [{ kind: 'status', status: 401 }, 'auth_failed'],
] as const)('%j is final', async (behavior, kind) => {
  models.always(behavior);
  await expect(generated()).resolves.toMatchObject({ status: 'failed', error: expect.stringMatching(`^${kind}: `) });
  expect(models.requests.length).toBeLessThanOrEqual(1);
});

test('what would cost more than the budget is not asked', async () => {
  const path = `/api/integrations/${integration.id}`;
  const { settings } = integration;
  await app.as(app.owner).patch(200, path, { settings: { ...settings, monthlyBudget: 0.000_001 } });
  try {
    await expect(generated()).resolves.toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^budget_exceeded: /),
    });
    expect(models.requests).toEqual([]);
  } finally {
    await app.as(app.owner).patch(200, path, { settings });
  }
});

test('neither facts nor answers are in histories, but ids', async () => {
  await generated();
  const histories = (await historiesOf(app, 'ai-v1')).join('');
  expect(histories).toContain((await latest()).reportId);
  expect(histories).not.toContain('Simulated: ');
  expect(histories).not.toContain(models.apiKey);
});

test('what is not a model of the integration, and a scope that there is not, are refused', async () => {
  for (const [query, pointer] of [
    [{ provider: 'anthropic' }, '#/query/provider'],
    [{ model: 'm-3' }, '#/query/model'],
    [{ provider: 'local', model: 'm-1' }, '#/query/model'],
    [{ scopeName: 'x' }, '#/query/scopeName'],
  ] as const) {
    const { errors } = await refresh(app, project, query, 400);
    expect(errors[0].pointer).toBe(pointer);
  }
  await refresh(app, project, {}, 400, app.stranger);
  expect(models.requests).toEqual([]);
});

test('a token limited to projects has reports made of theirs alone, by the model of the tenant', async () => {
  const other = await reportedProject(app);
  const { token } = await app.as(app.owner).post(201, '/api/application-tokens', {
    name: 'limited',
    projects: [project.repositoryIdentifier],
  });
  await refresh(app, other, {}, 400, { token });
  await refresh(app, project, {}, 202, { token });
  await expect(settled(project)).resolves.toMatchObject({ status: 'completed' });
  await expect(other.get('/status', onRepository)).resolves.toMatchObject({ status: 'never_ran' });
});

test('no model configured: what is missing is named, and facts can be had', async () => {
  await app.as(app.owner).patch(200, `/api/integrations/${integration.id}`, { isActive: false });
  try {
    const { detail } = await refresh(app, project, {}, 400);
    expect(detail).toContain('ai-model');
    await expect(generated({ provider: 'local' })).resolves.toMatchObject({ status: 'completed' });
  } finally {
    await app.as(app.owner).patch(200, `/api/integrations/${integration.id}`, { isActive: true });
  }
});
