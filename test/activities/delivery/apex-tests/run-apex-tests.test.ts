import { runApexTests } from '../../../../activities/delivery/apex-tests/run-apex-tests.ts';
import type { WorkerBackend } from '../../../../activities/backend.ts';
import { type RunContext, runById } from '../../../../domain/delivery/flows/flow-runs.queries.ts';
import { acceptNewRun } from '../../../../domain/delivery/flows/new-runs.mutations.ts';
import { type StepRow, stepsOfRun } from '../../../../domain/delivery/org-steps/org-steps.queries.ts';
import { systemActor } from '../../../../domain/kernel/shared/actor.ts';
import type { UnitOfWork } from '../../../../domain/unit-of-work.ts';
import type { SimulatedOrg } from '../../../simulators/crm-org/org.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';

const { signal } = new AbortController();
const STARTING = { path: /runTestsAsynchronous/ };

let app: TestApp;
let crm: CrmSimulator;
let backend: WorkerBackend;
let unit: UnitOfWork;
let org: SimulatedOrg;
let run: RunContext;
let made = 0;
beforeAll(async () => {
  crm = await crmSimulator([]);
  app = await testApp({ env: { OUTBOUND_ALLOW: '127.0.0.0/8' } });
  backend = activityDeps(app);
  unit = backend.deps.actingAs(systemActor(app.tenantKey, 'flow'));
});
afterAll(async () => {
  await backend.close();
  await app.close();
  await crm.close();
});
beforeEach(async () => {
  org = await addOrg();
  run = await newRun();
});

async function addOrg(): Promise<SimulatedOrg> {
  const added = await crm.addOrg({ name: `org-${++made}`, kind: 'sandbox' });
  added.apexTests.addClass('InvoiceTest', ['adds']);
  added.apexTests.polls = 1_000;
  await app.as(app.owner).post(201, '/api/auth/crm/register', { cliAuthUrl: added.authUrl });
  return added;
}
const newRun = () =>
  unit(async (tx) => {
    const { runId } = await acceptNewRun(tx, { id: 'run-apex-tests', orgUsername: org.username });
    return runById(tx, runId);
  });
const advance = (given = run) => runApexTests.advance(backend.deps, app.tenantKey, given, signal);
const cancel = (given = run) => runApexTests.cancel(backend.deps, app.tenantKey, given, signal);
const step = async ({ id } = run): Promise<StepRow> => (await unit((tx) => stepsOfRun(tx, id)))[0] as StepRow;
/** As if the org had been asked so long ago. */
const age = (hours: number, of = run) =>
  unit((tx) =>
    tx.db
      .updateTable('org_step')
      .set({ askedAt: new Date(Date.now() - hours * 3_600_000) })
      .where('runId', '=', of.id)
      .execute(),
  );
/** The run, in whose environment another org is named meanwhile. */
const moved = async (): Promise<RunContext> => ({
  ...run,
  payload: { ...run.payload, orgUsername: (await addOrg()).username },
});

test('a run ends where its environment names another org than the one in which tests run', async () => {
  await advance();
  const error = expect.stringContaining(`while tests run in ${org.username}`);
  await expect(advance(await moved())).resolves.toMatchObject({ status: 'failed', error });
  await expect(step()).resolves.toMatchObject({ state: 'failed', error });
});

test('cancelling stops nothing in another org, and says where tests run', async () => {
  await advance();
  await expect(cancel(await moved())).resolves.toContain(`while tests run in ${org.username}`);
  expect(org.apexTests.jobs).toMatchObject([{ status: 'Processing' }]);
  await expect(step()).resolves.toMatchObject({ state: 'unknown' });
});

test('what one of two steps began, whose answers were lost, is given to none', async () => {
  org.fail('lost', STARTING);
  await advance();
  const other = run;
  run = await newRun();
  org.fail({ kind: 'reply', status: 503, body: '' }, STARTING);
  await advance();
  await expect(advance()).resolves.toMatchObject({ text: expect.stringContaining('Looking whether the org began') });
  // By then the org would show what it has begun.
  for (const each of [run, other]) await age(0.1, each);
  await expect(advance()).resolves.toMatchObject({ status: 'failed', code: 'unknown_outcome' });
  await expect(advance(other)).resolves.toMatchObject({ status: 'failed', code: 'unknown_outcome' });
  await expect(step(other)).resolves.toMatchObject({ state: 'unknown', externalId: null });
  await expect(advance(other)).resolves.toMatchObject({ status: 'failed', code: 'unknown_outcome' });
  await expect(cancel(other)).resolves.toContain('Look at Apex Test Execution');
});

test('a run of tests that the org does not show is given up after an hour', async () => {
  await advance();
  org.apexTests.jobs.length = 0;
  await age(0.9);
  await expect(advance()).resolves.toMatchObject({ text: 'Tests wait in the org' });
  await age(1.1);
  await expect(advance()).resolves.toMatchObject({ status: 'failed', error: expect.stringContaining('Apex Test') });
  await expect(step()).resolves.toMatchObject({ state: 'failed' });
});

test('cancelling says that it is not known whether tests run', async () => {
  org.fail({ kind: 'reply', status: 503, body: '' }, STARTING);
  await advance();
  await expect(cancel()).resolves.toContain('not known');
  await expect(cancel()).resolves.toContain('not known');
});

test('cancelling is tried again where the org is away', async () => {
  await advance();
  org.fail({ kind: 'reply', status: 503, body: '' }, { times: 1_000 });
  await expect(cancel()).rejects.toThrow(org.username);
  org.heal();
  await expect(cancel()).resolves.toBeNull();
  expect(org.apexTests.jobs).toMatchObject([{ status: 'Aborted' }]);
});
