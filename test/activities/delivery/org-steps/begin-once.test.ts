import {
  AskedTooSoon,
  beginOnce,
  CANNOT_TELL,
  UnknownOutcome,
} from '../../../../activities/delivery/org-steps/begin-once.ts';
import { OrgCallFailed } from '../../../../activities/delivery/org-steps/org-call-failed.ts';
import type { WorkerBackend } from '../../../../activities/backend.ts';
import {
  addStep,
  moveStep,
  planSteps,
  type StepRow,
  stepsOfRun,
} from '../../../../domain/delivery/org-steps/org-steps.queries.ts';
import { acceptNewRun } from '../../../../domain/delivery/flows/new-runs.mutations.ts';
import type { CrmAnswer, CrmFailure } from '../../../../domain/orgs/crm/crm-platform.port.ts';
import { systemActor } from '../../../../domain/kernel/shared/actor.ts';
import type { UnitOfWork } from '../../../../domain/unit-of-work.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';

let app: TestApp;
let backend: WorkerBackend;
let unit: UnitOfWork;
let runId: string;
beforeAll(async () => {
  app = await testApp({ env: { SERVICE_PACE: '0.5' } });
  backend = activityDeps(app);
  unit = backend.deps.actingAs(systemActor(app.tenantKey, 'flow'));
});
afterAll(async () => {
  await backend.close();
  await app.close();
});
beforeEach(async () => {
  ({ runId } = await unit((tx) => acceptNewRun(tx, { id: 'build' })));
  await unit((tx) => planSteps(tx, runId, [{ name: 'Install', orgId: null, intent: { version: '04t1' } }]));
});

const step = async (): Promise<StepRow> => (await unit((tx) => stepsOfRun(tx, runId)))[0] as StepRow;
const askedLongAgo = () =>
  unit((tx) =>
    tx.db
      .updateTable('org_step')
      .set({ askedAt: new Date(Date.now() - 120_000) })
      .where('runId', '=', runId)
      .execute(),
  );
const failure = (kind: CrmFailure['kind']): CrmAnswer<never> => ({
  isOk: false,
  kind,
  code: null,
  message: 'no answer',
  hint: '',
});
const found = (value: string | null) => () => Promise.resolve({ isOk: true as const, value });
const neverAsked = () => Promise.reject(new Error('not to be asked'));
const begin = async (
  create: () => Promise<CrmAnswer<string>>,
  find: (askedAt: Date) => Promise<CrmAnswer<string | null>> = neverAsked,
) => beginOnce(backend.deps, app.tenantKey, await step(), { create, find, lookAt: 'Setup' });

test('a step has its id in the org, and is not asked for again', async () => {
  await expect(begin(found('0Hf1') as () => Promise<CrmAnswer<string>>)).resolves.toMatchObject({ externalId: '0Hf1' });
  await expect(begin(neverAsked)).resolves.toMatchObject({ state: 'begun', externalId: '0Hf1' });
});

test('the row says that the org is asked before it is', async () => {
  let seen: string | undefined;
  await begin(async () => {
    seen = (await step()).state;
    return { isOk: true, value: '0Hf1' };
  });
  expect(seen).toBe('asked');
});

test.each(['unreachable', 'timeout', 'malformed'] as const)(
  'after an answer that is lost (%s), what the org began is found, and not asked for again',
  async (kind) => {
    await expect(begin(() => Promise.resolve(failure(kind)))).rejects.toBeInstanceOf(OrgCallFailed);
    await expect(step()).resolves.toMatchObject({ state: 'asked', externalId: null });
    await expect(begin(neverAsked, found('0Hf2'))).resolves.toMatchObject({ state: 'begun', externalId: '0Hf2' });
  },
);

test('an org that has nothing is asked again, but not before it would show it', async () => {
  await expect(begin(() => Promise.resolve(failure('timeout')))).rejects.toThrow();
  await expect(begin(neverAsked, found(null))).rejects.toBeInstanceOf(AskedTooSoon);
  await unit((tx) =>
    tx.db
      .updateTable('org_step')
      .set({ askedAt: new Date(Date.now() - 120_000) })
      .where('runId', '=', runId)
      .execute(),
  );
  await expect(begin(() => Promise.resolve({ isOk: true, value: '0Hf3' }), found(null))).resolves.toMatchObject({
    externalId: '0Hf3',
  });
});

test('of two attempts at the same time one asks the org', async () => {
  const read = await step();
  const asked: string[] = [];
  const attempt = (name: string) =>
    beginOnce(backend.deps, app.tenantKey, read, {
      create() {
        asked.push(name);
        return Promise.resolve({ isOk: true, value: '0Hf1' });
      },
      find: neverAsked,
      lookAt: 'Setup',
    });
  const ends = await Promise.allSettled([attempt('one'), attempt('other')]);
  expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(asked).toHaveLength(1);
});

test('an org that cannot tell is never asked again, and the step says what to look at', async () => {
  await expect(begin(() => Promise.resolve(failure('unreachable')))).rejects.toThrow();
  await expect(begin(neverAsked, found(CANNOT_TELL))).rejects.toBeInstanceOf(AskedTooSoon);
  await askedLongAgo();
  await expect(begin(neverAsked, found(CANNOT_TELL))).rejects.toBeInstanceOf(UnknownOutcome);
  await expect(step()).resolves.toMatchObject({ state: 'unknown', error: expect.stringContaining('Look at Setup') });
});

test('a refusal ends the step; one that passes leaves it to be asked for again', async () => {
  await expect(begin(() => Promise.resolve(failure('limited')))).rejects.toThrow();
  await expect(step()).resolves.toMatchObject({ state: 'planned' });
  await expect(begin(() => Promise.resolve(failure('refused')))).rejects.toThrow();
  await expect(step()).resolves.toMatchObject({ state: 'failed', error: 'no answer', endedAt: expect.any(String) });
});

test('steps are planned once, added once, and move only forward', async () => {
  await unit((tx) => planSteps(tx, runId, [{ name: 'Other', orgId: null }]));
  await unit((tx) => addStep(tx, runId, { name: 'Deploy', orgId: null }));
  const steps = await unit((tx) => addStep(tx, runId, { name: 'Deploy', orgId: null }));
  expect(steps.map(({ name, position }) => [name, position])).toEqual([
    ['Install', 0],
    ['Deploy', 1],
  ]);
  const id = String(steps[0]?.id);
  await unit((tx) => moveStep(tx, id, { state: 'begun', externalId: '1' }));
  await expect(unit((tx) => moveStep(tx, id, { progress: { percent: 40 } }))).resolves.toMatchObject({
    progress: { percent: 40 },
  });
  await unit((tx) => moveStep(tx, id, { state: 'succeeded' }));
  await expect(unit((tx) => moveStep(tx, id, { state: 'begun' }))).resolves.toBeUndefined();
  await expect(unit((tx) => moveStep(tx, id, { detail: 'late' }))).resolves.toBeUndefined();
  await expect(app.as(app.owner).get(200, `/api/flows/runs/${runId}`)).resolves.toMatchObject({
    steps: [
      { name: 'Install', state: 'succeeded', externalId: '1', progress: { percent: 40 }, until: expect.any(String) },
      { name: 'Deploy', state: 'planned', since: null, until: null },
    ],
  });
  await app.as(app.stranger).get(404, `/api/flows/runs/${runId}`);
});
