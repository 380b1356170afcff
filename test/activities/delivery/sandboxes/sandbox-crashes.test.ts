import { SANDBOX_OPERATIONS } from '../../../../activities/delivery/sandboxes/sandbox-operations.ts';
import type { WorkerBackend } from '../../../../activities/backend.ts';
import { acceptNewRun } from '../../../../domain/delivery/flows/new-runs.mutations.ts';
import { runById } from '../../../../domain/delivery/flows/flow-runs.queries.ts';
import { CREATE, DELETE, REFRESH } from '../../../../domain/delivery/sandboxes/sandbox-rules.ts';
import { systemActor } from '../../../../domain/kernel/shared/actor.ts';
import type { UnitOfWork } from '../../../../domain/unit-of-work.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { SimulatedOrg } from '../../../simulators/crm-org/org.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';

const DAY_MS = 86_400_000;

let app: TestApp;
let backend: WorkerBackend;
let crm: CrmSimulator;
let org: SimulatedOrg;
beforeAll(async () => {
  crm = await crmSimulator([{ name: 'acme', kind: 'production' }]);
  org = crm.org('acme');
  org.copies.addGroup('Testers');
  app = await testApp({ env: { OUTBOUND_ALLOW: '127.0.0.0/8' } });
  backend = activityDeps(app);
  await app.as(app.owner).post(201, '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
});
afterAll(async () => {
  await backend.close();
  await app.close();
  await crm.close();
});

class Killed extends Error {}

/** Dies at the unit of work of that number, before it or right after it. */
function mortal({ deps }: WorkerBackend, killAt: number, isAfter: boolean) {
  const seen = { units: 0 };
  const actingAs: typeof deps.actingAs = (actor) => {
    const unit = deps.actingAs(actor);
    const dying = async (work: Parameters<UnitOfWork>[0]) => {
      const isHit = ++seen.units === killAt;
      if (isHit && !isAfter) throw new Killed();
      const value = await unit(work);
      if (isHit) throw new Killed();
      return value;
    };
    return dying as UnitOfWork;
  };
  return { deps: { ...deps, actingAs, flows: { ...deps.flows, pace: 0 } }, seen };
}

type Act = typeof CREATE | typeof REFRESH | typeof DELETE;

/** Takes a run to its end, by as many workers as it needs; answers how many units of work it had. */
async function carriedOut(act: Act, sandboxName: string, killAt: number, isAfter: boolean): Promise<number> {
  const { copies } = org;
  if (act !== CREATE) {
    await crm.addOrg({ name: `acme-${sandboxName}`, kind: 'sandbox', parent: 'acme', sandboxName });
    copies.copy(sandboxName).createdAt = new Date(Date.now() - 30 * DAY_MS);
    copies.define(sandboxName, { ActivationUserGroupId: copies.groups.get('Testers') ?? null });
  }
  const payload = { id: act, sandboxName, licenseType: 'DEVELOPER', activationGroup: 'Testers' };
  const actor = systemActor(app.tenantKey, 'flow');
  const { runId } = await backend.deps.actingAs(actor)((tx) => acceptNewRun(tx, payload));
  const run = await runById(backend.deps.reads.as(actor), runId);
  const { deps, seen } = mortal(backend, killAt, isAfter);
  const signal = new AbortController().signal;
  for (;;) {
    try {
      const next = await SANDBOX_OPERATIONS[act].advance(deps, app.tenantKey, run, signal);
      if (!('againInSeconds' in next)) {
        expect(next).toMatchObject({ status: 'succeeded' });
        return seen.units;
      }
      const isCopying = org.sandboxes.some(({ name, status }) => name === sandboxName && status === 'Pending');
      if (isCopying) await copies.finish(sandboxName);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
  }
}

test.each([
  [CREATE, 'create', 'c'],
  [REFRESH, 'refresh', 'r'],
  [DELETE, 'delete', 'd'],
] as const)('%s is done once, wherever its worker dies', async (type, act, letter) => {
  const units = await carriedOut(type, `${letter}0`, 0, false);
  expect(units).toBeGreaterThan(5);
  for (let killAt = 1; killAt <= units; killAt++)
    for (const isAfter of [false, true]) {
      const name = `${letter}${killAt}${isAfter ? 'a' : 'b'}`;
      await carriedOut(type, name, killAt, isAfter);
      expect(org.copies.ledger.filter((each) => each.name === name)).toMatchObject([{ act }]);
      const rows = await app.sql('select username from crm_org where sandbox_name = ?', [name]);
      expect(rows).toHaveLength(type === DELETE ? 0 : 1);
    }
});
