import { randomUUID } from 'node:crypto';
import { purgeBudgetMonths } from '../../../../domain/insight/language-models/ai-calls.queries.ts';
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

/** 1,000 tokens of output cost a dollar, and those of input nothing. */
const perOutput = { inputPrice: 0, outputPrice: 1_000 };
const costing = (output: number) => ({ kind: 'answer' as const, text: '{}', usage: { input: 0, output } });

test('the budget is not exceeded: a call that may cost too much is not made', async () => {
  const { id, rows } = await project({ ...perOutput, monthlyBudget: 1.5 });
  models.simulator.next(costing(900));
  expect(await ask(id)).toMatchObject({ kind: 'ok', cost: 0.9 });
  expect(await ask(id)).toMatchObject({
    kind: 'budget_exceeded',
    calls: 0,
    message: "The call may cost $1.00, and of the month's budget of $1.50, $0.90 are spent",
  });
  expect(await ask(id, { maxOutputTokens: 500 })).toMatchObject({ kind: 'ok' });
  expect(await rows()).toHaveLength(2);
  expect(models.simulator.requests).toHaveLength(2);
});

test('the budget is not exceeded by several at once', async () => {
  const { id } = await project({ ...perOutput, monthlyBudget: 2.5 });
  const { promise: until, resolve: answer } = Promise.withResolvers<void>();
  models.simulator.always({ ...costing(1_000), until });
  let refused = 0;
  const asking = Array.from({ length: 4 }, async () => {
    const reply = await ask(id);
    if (reply.kind === 'budget_exceeded') refused++;
    return reply;
  });
  await eventually(
    async () => refused + models.simulator.requests.length,
    (settled) => settled === 4,
  );
  answer();
  const replies = await Promise.all(asking);
  expect(replies.map(({ kind }) => kind).toSorted()).toEqual(['budget_exceeded', 'budget_exceeded', 'ok', 'ok']);
  expect(models.simulator.requests).toHaveLength(2);
});

test('the budget is announced once in a month when most of it is used', async () => {
  const { id, identifier, integrationId } = await project({ ...perOutput, monthlyBudget: 10 });
  await models.app.as(models.app.owner).post(201, '/api/webhooks', {
    name: 'Budget',
    event: 'ai_budget.warning',
    config: { url: 'http://127.0.0.1:9/' },
  });
  const announced = () =>
    models.app.sql<{ payload: { data: object } }>('select payload from webhook_delivery where event = ?', [
      'ai_budget.warning',
    ]);
  models.simulator.always(costing(4_000));
  await ask(id, { maxOutputTokens: 4_000 });
  expect(await announced()).toEqual([]);
  await ask(id, { maxOutputTokens: 4_000 });
  models.simulator.always(costing(500));
  await ask(id);
  const events = await announced();
  expect(events).toHaveLength(1);
  expect(JSON.stringify(events[0])).toContain(integrationId);
  expect(JSON.stringify(events[0])).toContain(identifier);
  const months = await models.app.sql('select spent from ai_budget_month where integration_id = ?', [integrationId]);
  expect(months).toEqual([{ spent: 8.5 }]);
  // A higher budget has its own announcement, when most of it is used.
  const path = `/api/integrations/${integrationId}`;
  const { settings } = await models.app.as(models.app.owner).get(200, path);
  await models.app.as(models.app.owner).patch(200, path, { settings: { ...settings, monthlyBudget: 11 } });
  await ask(id);
  await ask(id);
  expect(await announced()).toHaveLength(2);
});

test('what is reserved for a call whose process has ended is spent', async () => {
  const { id, integrationId, rows } = await project({ ...perOutput, monthlyBudget: 1 });
  const insert = (lease: string) =>
    models.app.sql(
      `insert into ai_call (id, tenant_id, project_id, task_execution_id, integration_id, provider, model, outcome,
         estimate, started_at, lease_until)
       values (gen_random_uuid(), ?, ?, gen_random_uuid(), ?, 'openai', 'gpt', 'running', 0.5, now(),
         now() + ?::interval)`,
      [models.app.tenant.id, id, integrationId, lease],
    );
  await insert('30 seconds');
  expect(await ask(id)).toMatchObject({ kind: 'budget_exceeded' });
  await models.app.sql(`update ai_call set lease_until = now() - interval '1 second' where project_id = ?`, [id]);
  // The provider may bill it, so it is spent.
  expect(await ask(id)).toMatchObject({
    kind: 'budget_exceeded',
    message: "The call may cost $1.00, and of the month's budget of $1.00, $0.50 are spent",
  });
  expect(await ask(id, { maxOutputTokens: 500 })).toMatchObject({ kind: 'ok' });
  expect(await rows()).toMatchObject([{ outcome: 'lost', cost: 0.5, is_estimated: true }, { outcome: 'ok' }]);
});

test('a call of a killed process keeps nothing reserved from its own task, and one held for lost counts once', async () => {
  const { id, integrationId, rows } = await project({ ...perOutput, monthlyBudget: 2 });
  const taskExecutionId = randomUUID();
  const { promise: until, resolve: answer } = Promise.withResolvers<void>();
  models.simulator.next({ ...costing(300), until }, costing(200));
  const held = ask(id, { taskExecutionId });
  await eventually(async () => models.simulator.requests.length, Boolean);
  // As an attempt whose heartbeats were missed, and which goes on.
  const again = await ask(id, { taskExecutionId });
  expect(again).toMatchObject({ kind: 'ok', cost: 0.2 });
  expect((await rows()).map(({ outcome, cost }) => [outcome, cost])).toEqual([
    ['lost', 1],
    ['ok', 0.2],
  ]);
  answer();
  await held;
  const months = await models.app.sql('select spent from ai_budget_month where integration_id = ?', [integrationId]);
  expect(months).toEqual([{ spent: expect.closeTo(0.5, 9) }]);
});

test('a month that has ended has what a lost call of it may have cost, and is forgotten in time', async () => {
  const { id, integrationId } = await project({ ...perOutput, monthlyBudget: 10 });
  const taskExecutionId = randomUUID();
  await models.app.sql(
    `insert into ai_budget_month (tenant_id, integration_id, month, spent) values (?, ?, '2026-01-01', 1)`,
    [models.app.tenant.id, integrationId],
  );
  await models.app.sql(
    `insert into ai_call (id, tenant_id, project_id, task_execution_id, integration_id, provider, model, outcome,
       estimate, started_at, lease_until)
     values (gen_random_uuid(), ?, ?, gen_random_uuid(), ?, 'openai', 'gpt', 'running', 0.5, '2026-01-31T23:59:59Z', now())`,
    [models.app.tenant.id, id, integrationId],
  );
  await ask(id, { taskExecutionId });
  const months = () =>
    models.app.sql('select spent from ai_budget_month where integration_id = ? order by month', [integrationId]);
  expect(await months()).toEqual([{ spent: 1.5 }, { spent: expect.any(Number) }]);
  await models.app.sql(
    'update ai_budget_month set month = current_date - 401 where integration_id = ? and spent = 1.5',
    [integrationId],
  );
  await purgeBudgetMonths(models.worker.deps.system, 400);
  expect(await months()).toHaveLength(1);
});

test('the budget of a report in tokens is shared by its calls', async () => {
  const { id } = await project({ maxTokensPerReport: 2_800 });
  const taskExecutionId = randomUUID();
  models.simulator.next(costing(900), costing(900), costing(900));
  const kinds = [];
  for (let call = 0; call < 4; call++) kinds.push((await ask(id, { taskExecutionId })).kind);
  expect(kinds).toEqual(['ok', 'ok', 'ok', 'budget_exceeded']);
  expect(models.simulator.requests.map(({ maxTokens }) => maxTokens > 900)).toEqual([true, true, false]);
  expect((await ask(id)).kind).toBe('ok');
});
