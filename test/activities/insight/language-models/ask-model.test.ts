import { randomUUID } from 'node:crypto';
import { type AskedModels, askedModels } from '../../../support/asked-models.ts';
import { eventually } from '../../../support/eventually.ts';

let models: AskedModels;
const { ask, project }: Pick<AskedModels, 'ask' | 'project'> = {
  ask: (...given) => models.ask(...given),
  project: (...given) => models.project(...given),
};
beforeAll(async () => {
  models = await askedModels();
});
beforeEach(() => models.simulator.reset());
afterAll(() => models.close());

const PRICES = { inputPrice: 2, outputPrice: 10, cacheReadPrice: 0.5 };

test('a call leaves a row with its tokens and what they cost; credentials are read on the record', async () => {
  const { id, identifier, integrationId, rows } = await project(PRICES);
  const usage = { input: 500_000, output: 100_000, reasoning: 30_000, cacheRead: 200_000 };
  models.simulator.next({ kind: 'answer', text: '{}', usage });
  const taskExecutionId = randomUUID();
  const reply = await ask(id, { taskExecutionId });
  expect(reply).toMatchObject({ kind: 'ok', text: '{}', provider: 'openai', model: 'gpt', usage, calls: 1 });
  expect(reply.cost).toBeCloseTo(1 + 1 + 0.1, 10);
  expect(await rows()).toMatchObject([
    {
      task_execution_id: taskExecutionId,
      integration_id: integrationId,
      provider: 'openai',
      model: 'gpt',
      outcome: 'ok',
      input: 500_000,
      output: 100_000,
      reasoning: 30_000,
      cache_read: 200_000,
      cache_write: 0,
      is_estimated: false,
      cost: reply.cost,
      lease_until: null,
      error: null,
    },
  ]);
  const query = `repositoryIdentifier=${encodeURIComponent(identifier)}`;
  expect(await models.app.as(models.app.member).get(200, `/api/metrics/ai-usage?${query}`)).toMatchObject({
    sessions: 1,
    prompts: 1,
    promptsFailed: 0,
    turns: 1,
    tokens: { ...usage, cacheWrite: 0 },
    cost: reply.cost,
  });
  const read = await models.app.sql('select summary from audit_entry where entity_id = ? and action = ?', [
    integrationId,
    'integration.credentials_read',
  ]);
  expect(read).toHaveLength(1);
});

test('what waiting can cure is tried again, with a row for each call; without prices nothing has a cost', async () => {
  const { id, rows } = await project();
  models.simulator.next({ kind: 'limited', retryAfter: 0 }, { kind: 'limited', retryAfter: 0.2 }, { kind: 'broken' });
  const startedAt = performance.now();
  const reply = await ask(id);
  expect(reply).toMatchObject({ kind: 'ok', calls: 4, cost: null });
  expect(performance.now() - startedAt).toBeGreaterThan(200);
  expect(await rows()).toMatchObject([
    { outcome: 'limited', input: 0, output: 0, cost: null, is_estimated: false },
    { outcome: 'limited', error: 'openai answered 429: Too many requests' },
    { outcome: 'unavailable', is_estimated: true, output: 12 },
    { outcome: 'ok' },
  ]);
});

test('after five calls it is given up', async () => {
  const { id, rows } = await project();
  models.simulator.always({ kind: 'limited', retryAfter: 0 });
  expect(await ask(id)).toMatchObject({ kind: 'limited', calls: 5 });
  expect(await rows()).toHaveLength(5);
});

test('a call that breaks off before its first word, or does not tell its tokens, is estimated', async () => {
  const { id, integrationId, rows } = await project(PRICES);
  models.simulator.next({ kind: 'silent' }, { kind: 'answer', text: '{}', usage: { output: Number.NaN } });
  const reply = await ask(id);
  expect(reply).toMatchObject({ kind: 'ok', calls: 2 });
  const estimated = { is_estimated: true, input: expect.any(Number), cost: expect.any(Number) };
  expect(await rows()).toMatchObject([
    { ...estimated, outcome: 'unavailable', output: 0 },
    { ...estimated, outcome: 'ok', output: 1 },
  ]);
  const { app, simulator } = models;
  const change = {
    baseUrl: simulator.baseUrlOf('anthropic'),
    settings: { provider: 'anthropic', model: 'c', ...PRICES },
  };
  await app.as(app.owner).patch(200, `/api/integrations/${integrationId}`, change);
  simulator.next({ kind: 'silent' });
  await ask(id);
  // Anthropic counts the input as the answer begins.
  const [, , broken, complete] = await rows();
  expect(broken).toMatchObject({ ...estimated, outcome: 'unavailable', input: complete?.input });
});

test('calls of an attempt whose process ended count, and so does their time', async () => {
  const { id, rows } = await project();
  const [often, late] = [randomUUID(), randomUUID()];
  const insert = (taskExecutionId: string, outcome: string, minutesAgo: number) =>
    models.app.sql(
      `insert into ai_call (id, tenant_id, project_id, task_execution_id, integration_id, provider, model, outcome,
         estimate, started_at)
       values (gen_random_uuid(), ?, ?, ?, gen_random_uuid(), 'openai', 'gpt', ?, 0, now() - make_interval(mins => ?))`,
      [models.app.tenant.id, id, taskExecutionId, outcome, minutesAgo],
    );
  await insert(often, 'limited', 60);
  await insert(often, 'ok', 50);
  for (const minutesAgo of [9, 8, 7, 6]) await insert(often, 'lost', minutesAgo);
  models.simulator.always({ kind: 'limited', retryAfter: 0 });
  expect(await ask(id, { taskExecutionId: often })).toMatchObject({ kind: 'limited', calls: 1 });
  expect(await ask(id, { taskExecutionId: often })).toMatchObject({ kind: 'unavailable', calls: 0 });
  await insert(late, 'lost', 41);
  expect(await ask(id, { taskExecutionId: late })).toMatchObject({ kind: 'unavailable', calls: 0 });
  expect(await rows()).toHaveLength(8);
});

test.each([
  ['quota', { kind: 'quota' }],
  ['rejected', { kind: 'status', status: 400 }],
  ['auth_failed', { kind: 'status', status: 401 }],
  ['auth_failed', { kind: 'status', status: 403 }],
  ['refused', { kind: 'refusal' }],
  ['length', { kind: 'length' }],
  ['malformed', { kind: 'html' }],
] as const)('%s is final', async (kind, behavior) => {
  const { id, rows } = await project();
  models.simulator.next(behavior);
  expect(await ask(id)).toMatchObject({ kind, calls: 1 });
  expect(await rows()).toMatchObject([{ outcome: kind }]);
});

test('secrets do not leave', async () => {
  const { id } = await project();
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  await ask(id, {
    system: `Use ${secret}`,
    messages: [{ role: 'user', text: `{"text":"password=hunter2; ${secret}"}` }],
  });
  expect(models.simulator.requests).toHaveLength(1);
  expect(models.simulator.requests[0]?.sent).not.toMatch(/hunter2|a1B2/);
});

test('a cancelled question ends its stream, and the waiting for the next call', async () => {
  const { id, rows } = await project(PRICES);
  models.simulator.next({ kind: 'trickle', everyMs: 5 }, { kind: 'limited', retryAfter: 60 });
  const aborts = [new AbortController(), new AbortController()] as const;
  const stopped = await ask(id, { signal: aborts[0].signal, onProgress: () => aborts[0].abort() });
  expect(stopped).toMatchObject({ kind: 'cancelled', calls: 1 });
  const waiting = ask(id, { signal: aborts[1].signal });
  await eventually(rows, (found) => found.some(({ outcome }) => outcome === 'limited'));
  aborts[1].abort();
  expect(await waiting).toMatchObject({ kind: 'cancelled', calls: 1 });
  expect(await rows()).toMatchObject([{ outcome: 'cancelled', is_estimated: true }, { outcome: 'limited' }]);
  expect(stopped.cost).toBeGreaterThan(0);
});

test('what is not configured is said', async () => {
  const identifier = 'acme/no-model';
  const { id } = await models.app.as(models.app.owner).post(201, '/api/projects', { identifier, platform: 'host-a' });
  expect(await ask(id)).toMatchObject({
    kind: 'unconfigured',
    message: 'No language model is configured: the project or the tenant needs an active integration of kind ai-model',
  });
  const other = await project({ models: 'gpt-small' });
  expect(await ask(other.id, { model: 'gpt-small' })).toMatchObject({ kind: 'ok', model: 'gpt-small' });
  expect(await ask(other.id, { model: 'gpt-smal' })).toMatchObject({ kind: 'unconfigured' });
});

test('settings of a model are checked, and its credential is a token', async () => {
  const post = (settings: object, credentials: object = { type: 'token', token: 'key' }) =>
    models.app
      .as(models.app.owner)
      .post(400, '/api/integrations', { kind: 'ai-model', name: 'Model', settings, credentials });
  const wrong = await post({ provider: 'openai', model: 'gpt', monthlyBudget: 10, price: 3 });
  expect(wrong.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
    '#/body/settings/price',
    '#/body/settings/monthlyBudget',
  ]);
  await post({});
  await post({ provider: 'openai', model: 'gpt' }, { type: 'basic', username: 'ann', password: 'pw' });
  const { integrationId } = await project();
  const patch = (status: number, settings: object) =>
    models.app.as(models.app.owner).patch(status, `/api/integrations/${integrationId}`, { settings });
  await patch(400, { provider: 'openai' });
  await patch(200, { provider: 'anthropic', model: 'claude' });
});

test('the credential for one provider is not sent to another', async () => {
  const { integrationId } = await project();
  const patch = (status: number, change: object) =>
    models.app.as(models.app.owner).patch(status, `/api/integrations/${integrationId}`, change);
  const settings = (provider: string) => ({ provider, model: 'm' });
  const credentials = { type: 'token', token: 'key' };
  await patch(200, { baseUrl: null, credentials });
  const { errors } = await patch(400, { settings: settings('anthropic') });
  expect(errors).toMatchObject([{ pointer: '#/body/credentials', detail: expect.stringContaining('provider') }]);
  await patch(200, { baseUrl: 'https://api.openai.com/v1' });
  await patch(200, { settings: settings('anthropic') });
  await patch(400, { baseUrl: null });
  await patch(200, { baseUrl: null, credentials });
  await patch(200, { baseUrl: 'https://api.anthropic.com' });
});
