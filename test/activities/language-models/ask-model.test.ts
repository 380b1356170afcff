import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerBackend } from '../../../activities/backend.ts';
import type { ModelQuestion } from '../../../domain/language-models/ask-model.port.ts';
import { systemActor } from '../../../domain/shared/actor.ts';
import { activityDeps } from '../../support/activities.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { type ModelSimulator, modelSimulator } from '../../simulators/models/simulator.ts';

let app: TestApp;
let worker: WorkerBackend;
let simulator: ModelSimulator;

beforeAll(async () => {
  simulator = await modelSimulator();
  app = await testApp();
  worker = activityDeps(app);
});
afterAll(async () => {
  await worker.close();
  await app.close();
  await simulator.close();
});
beforeEach(() => simulator.reset());

let projects = 0;
/** A project with a model of its own. */
async function project(settings: object = {}, credentials: object = { type: 'token', token: simulator.apiKey }) {
  const identifier = `acme/models-${++projects}`;
  const { id } = await app.as(app.owner).post(201, '/api/projects', { identifier, platform: 'host-a' });
  const integration = await app.as(app.owner).post(201, '/api/integrations', {
    kind: 'ai-model',
    name: 'Model',
    repositoryIdentifier: identifier,
    baseUrl: simulator.baseUrlOf('openai'),
    settings: { provider: 'openai', model: 'gpt', ...settings },
    credentials,
  });
  const rows = () => app.sql('select * from ai_call where project_id = ? order by started_at, id', [id]);
  return { id: id as string, identifier, integrationId: integration.id as string, rows };
}

const ask = (projectId: string, question: Partial<ModelQuestion> = {}) =>
  worker.deps.askModel({
    actor: systemActor(app.tenantKey, 'ai-reports'),
    projectId,
    taskExecutionId: randomUUID(),
    purpose: 'a test',
    system: 'Write a report.',
    messages: [{ role: 'user', text: 'F1: three issues' }],
    schema: { name: 'report', schema: { type: 'object', properties: {} } },
    maxOutputTokens: 1_000,
    signal: new AbortController().signal,
    onProgress: () => undefined,
    ...question,
  });

const PRICES = { inputPrice: 2, outputPrice: 10, cacheReadPrice: 0.5 };

test('a call leaves a row with its tokens and what they cost; credentials are read on the record', async () => {
  const { id, identifier, integrationId, rows } = await project(PRICES);
  const usage = { input: 500_000, output: 100_000, reasoning: 30_000, cacheRead: 200_000 };
  simulator.next({ kind: 'answer', text: '{}', usage });
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
  expect(await app.as(app.member).get(200, `/api/metrics/ai-usage?${query}`)).toMatchObject({
    sessions: 1,
    prompts: 1,
    promptsFailed: 0,
    turns: 1,
    tokens: { ...usage, cacheWrite: 0 },
    cost: reply.cost,
  });
  const read = await app.sql('select summary from audit_entry where entity_id = ? and action = ?', [
    integrationId,
    'integration.credentials_read',
  ]);
  expect(read).toHaveLength(1);
});

test('what waiting can cure is tried again, with a row for each call; without prices nothing has a cost', async () => {
  const { id, rows } = await project();
  simulator.next({ kind: 'limited', retryAfter: 0 }, { kind: 'limited', retryAfter: 0.2 }, { kind: 'broken' });
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
  simulator.always({ kind: 'limited', retryAfter: 0 });
  expect(await ask(id)).toMatchObject({ kind: 'limited', calls: 5 });
  expect(await rows()).toHaveLength(5);
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
  simulator.next(behavior);
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
  expect(simulator.requests).toHaveLength(1);
  expect(simulator.requests[0]?.sent).not.toMatch(/hunter2|a1B2/);
});

test('a cancelled question ends its stream, and the waiting for the next call', async () => {
  const { id, rows } = await project(PRICES);
  simulator.next({ kind: 'trickle', everyMs: 5 }, { kind: 'limited', retryAfter: 60 });
  const aborts = [new AbortController(), new AbortController()] as const;
  const stopped = await ask(id, { signal: aborts[0].signal, onProgress: () => aborts[0].abort() });
  expect(stopped).toMatchObject({ kind: 'cancelled', calls: 1 });
  const waiting = ask(id, { signal: aborts[1].signal });
  while ((await rows()).filter(({ outcome }) => outcome === 'limited').length === 0) await sleep(10);
  aborts[1].abort();
  expect(await waiting).toMatchObject({ kind: 'cancelled', calls: 1 });
  expect(await rows()).toMatchObject([{ outcome: 'cancelled', is_estimated: true }, { outcome: 'limited' }]);
  expect(stopped.cost).toBeGreaterThan(0);
});

describe('the budget', () => {
  /** 1,000 tokens of output cost a dollar, and those of input nothing. */
  const perOutput = { inputPrice: 0, outputPrice: 1_000 };
  const costing = (output: number) => ({ kind: 'answer' as const, text: '{}', usage: { input: 0, output } });

  test('is not exceeded: a call that may cost too much is not made', async () => {
    const { id, rows } = await project({ ...perOutput, monthlyBudget: 1.5 });
    simulator.next(costing(900));
    expect(await ask(id)).toMatchObject({ kind: 'ok', cost: 0.9 });
    expect(await ask(id)).toMatchObject({
      kind: 'budget_exceeded',
      calls: 0,
      message: "The call may cost $1.00, and of the month's budget of $1.50, $0.90 are spent",
    });
    expect(await ask(id, { maxOutputTokens: 500 })).toMatchObject({ kind: 'ok' });
    expect(await rows()).toHaveLength(2);
    expect(simulator.requests).toHaveLength(2);
  });

  test('is not exceeded by several at once', async () => {
    const { id } = await project({ ...perOutput, monthlyBudget: 2.5 });
    simulator.always({ ...costing(1_000), pauseMs: 200 });
    const replies = await Promise.all([ask(id), ask(id), ask(id), ask(id)]);
    expect(replies.map(({ kind }) => kind).toSorted()).toEqual(['budget_exceeded', 'budget_exceeded', 'ok', 'ok']);
    expect(simulator.requests).toHaveLength(2);
  });

  test('is announced once in a month when most of it is used', async () => {
    const { id, identifier, integrationId } = await project({ ...perOutput, monthlyBudget: 10 });
    await app.as(app.owner).post(201, '/api/webhooks', {
      name: 'Budget',
      event: 'ai_budget.warning',
      config: { url: 'http://127.0.0.1:9/' },
    });
    const announced = () =>
      app.sql<{ payload: { data: object } }>('select payload from webhook_delivery where event = ?', [
        'ai_budget.warning',
      ]);
    simulator.always(costing(4_000));
    await ask(id, { maxOutputTokens: 4_000 });
    expect(await announced()).toEqual([]);
    await ask(id, { maxOutputTokens: 4_000 });
    simulator.always(costing(500));
    await ask(id);
    const events = await announced();
    expect(events).toHaveLength(1);
    expect(JSON.stringify(events[0])).toContain(integrationId);
    expect(JSON.stringify(events[0])).toContain(identifier);
    const months = await app.sql('select spent from ai_budget_month where integration_id = ?', [integrationId]);
    expect(months).toEqual([{ spent: 8.5 }]);
  });

  test('is no longer reserved for a call whose process has ended', async () => {
    const { id, integrationId, rows } = await project({ ...perOutput, monthlyBudget: 1 });
    const insert = (lease: string) =>
      app.sql(
        `insert into ai_call (id, tenant_id, project_id, task_execution_id, integration_id, provider, model, outcome,
           estimate, started_at, lease_until)
         values (gen_random_uuid(), ?, ?, gen_random_uuid(), ?, 'openai', 'gpt', 'running', 0.5, now(),
           now() + ?::interval)`,
        [app.tenant.id, id, integrationId, lease],
      );
    await insert('30 seconds');
    expect(await ask(id)).toMatchObject({ kind: 'budget_exceeded' });
    await app.sql(`update ai_call set lease_until = now() - interval '1 second' where project_id = ?`, [id]);
    expect(await ask(id)).toMatchObject({ kind: 'ok' });
    expect((await rows()).map(({ outcome }) => outcome)).toEqual(['lost', 'ok']);
  });

  test('of a report in tokens is shared by its calls', async () => {
    const { id } = await project({ maxTokensPerReport: 2_800 });
    const taskExecutionId = randomUUID();
    simulator.next(costing(900), costing(900), costing(900));
    const kinds = [];
    for (let call = 0; call < 4; call++) kinds.push((await ask(id, { taskExecutionId })).kind);
    expect(kinds).toEqual(['ok', 'ok', 'ok', 'budget_exceeded']);
    expect(simulator.requests.map(({ maxTokens }) => maxTokens > 900)).toEqual([true, true, false]);
    expect((await ask(id)).kind).toBe('ok');
  });
});

test('what is not configured is said', async () => {
  const identifier = 'acme/no-model';
  const { id } = await app.as(app.owner).post(201, '/api/projects', { identifier, platform: 'host-a' });
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
    app.as(app.owner).post(400, '/api/integrations', { kind: 'ai-model', name: 'Model', settings, credentials });
  const wrong = await post({ provider: 'openai', model: 'gpt', monthlyBudget: 10, price: 3 });
  expect(wrong.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
    '#/body/settings/price',
    '#/body/settings/monthlyBudget',
  ]);
  await post({});
  await post({ provider: 'openai', model: 'gpt' }, { type: 'basic', username: 'ann', password: 'pw' });
  const { integrationId } = await project();
  const patch = (status: number, settings: object) =>
    app.as(app.owner).patch(status, `/api/integrations/${integrationId}`, { settings });
  await patch(400, { provider: 'openai' });
  await patch(200, { provider: 'anthropic', model: 'claude' });
});
