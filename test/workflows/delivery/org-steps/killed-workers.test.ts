import type { Json } from '../../../support/client.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { SimulatedOrg } from '../../../simulators/crm-org/org.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import {
  eventually,
  startWorker,
  startWorkerProcess,
  type TestWorker,
  type TestWorkerProcess,
} from '../../../support/worker.ts';

/** Each kill comes while a run of each type is under way. */
const KILLS = process.env.DEEP_TESTS ? 200 : 2;
const repositoryIdentifier = 'acme/killed';

let app: TestApp;
let crm: CrmSimulator;
/** It does not act in orgs, and lives on. */
let worker: TestWorker;
let dying: TestWorkerProcess;
let made = 0;
beforeAll(async () => {
  crm = await crmSimulator([]);
  app = await testApp({ env: { OUTBOUND_ALLOW: '127.0.0.0/8', SERVICE_PACE: '0.02' } });
  worker = await startWorker(app, ['flows-v1', 'approvals-v1', 'environment-locks-v1', 'system-v1']);
  dying = await startWorkerProcess(app, ['crm-v1']);
  await app.as(app.owner).post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration: { approvalPolicy: { skipApproval: true } },
  });
});
afterAll(async () => {
  await dying.kill('SIGKILL');
  await worker.stop();
  await app.close();
  await crm.close();
});

interface Act {
  payload: (org: SimulatedOrg) => object;
  /** What the org needs before. */
  prepare: (org: SimulatedOrg) => void;
  /** What takes the run on while it waits for the org, or for people. */
  goOn: (org: SimulatedOrg, run: Json) => Promise<unknown>;
  /** What must hold at the end, whatever was killed. */
  assert: (org: SimulatedOrg, run: Json) => void;
}

const PEOPLE = ['ada@x.example', 'bob@x.example'];
const addPeople = ({ people }: SimulatedOrg) => PEOPLE.forEach((name) => people.addUser(name));
const nothing = () => Promise.resolve();

const ACTS: Record<string, Act> = {
  'request-freeze-users': {
    payload: () => ({ usernames: PEOPLE }),
    prepare: addPeople,
    goOn: nothing,
    assert({ people }, run) {
      expect(run).toMatchObject({ status: 'Completed' });
      const frozen = [...people.users.values()].filter(({ login }) => login.isFrozen).map(({ username }) => username);
      expect(frozen.toSorted()).toEqual(PEOPLE);
    },
  },
  'request-elevated-privileges': {
    payload: () => ({ usernames: PEOPLE, permissionSets: ['Debugger'], durationMinutes: 60 }),
    prepare(org) {
      addPeople(org);
      org.people.addSet('Debugger');
    },
    async goOn({ people }, { id }) {
      if (people.assignments.size === PEOPLE.length) await app.as(app.owner).post(200, `/api/flows/runs/${id}/cancel`);
    },
    assert({ people }) {
      expect(people.assignments.size).toBe(0);
      const given = people.ledger.filter(({ act, type }) => act === 'create' && type === 'PermissionSetAssignment');
      expect(new Set(given.map(({ record }) => record.AssigneeId)).size).toBe(given.length);
    },
  },
  'request-sandbox-create': {
    payload: ({ username }) => ({
      productionUsername: username,
      sandboxName: 'qa',
      licenseType: 'Developer',
      activationGroup: 'Testers',
    }),
    prepare: ({ copies }) => void copies.addGroup('Testers'),
    async goOn({ copies }, run) {
      if (run.steps[1]?.progress !== null && run.steps[1] !== undefined) await copies.finish('qa');
    },
    assert({ copies }, run) {
      expect(run).toMatchObject({ status: 'Completed' });
      expect(copies.ledger.map(({ act, name }) => `${act} ${name}`)).toEqual(['create qa']);
    },
  },
};

/** Starts a run, and follows it to its end. */
async function follow(id: string, org: SimulatedOrg): Promise<Json> {
  const { payload, goOn } = ACTS[id] as Act;
  const started = await app.as(app.owner).post(202, '/api/flows/run', {
    payload: { id, repositoryIdentifier, orgUsername: org.username, ...payload(org) },
  });
  return eventually(
    async () => {
      const run = await app.as(app.owner).get(200, `/api/flows/runs/${started.id}`);
      if (run.success === null) await goOn(org, run);
      return run;
    },
    ({ success }) => success !== null,
  );
}

/** Kills the worker when orgs have been asked so often; another one comes. */
async function killAt(count: number, orgs: readonly SimulatedOrg[]): Promise<void> {
  let asked = 0;
  await new Promise<void>((resolve) => {
    for (const org of orgs)
      org.breaksOff = async () => {
        if (++asked !== count) return false;
        await dying.kill('SIGKILL');
        resolve();
        return true;
      };
  });
  dying = await startWorkerProcess(app, ['crm-v1']);
}

/** Before and after each of some 20 requests of a round; far from each other where there are few. */
const momentOf = (kill: number): number => 1 + ((kill * 17 + 9) % 40);

test.each(Array.from({ length: KILLS }, (_, kill) => momentOf(kill)))(
  'a worker that is killed at moment %i of the calls to orgs leaves nothing undone, and does nothing twice',
  async (moment) => {
    const round = ++made;
    const acts = Object.entries(ACTS);
    const orgs = await Promise.all(
      acts.map(async ([id, { prepare }]) => {
        const org = await crm.addOrg({ name: `org-${round}-${id}`, kind: 'production' });
        prepare(org);
        await app.as(app.owner).post(201, '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
        return org;
      }),
    );
    const killed = killAt(moment, orgs);
    const runs = await Promise.all(acts.map(([id], index) => follow(id, orgs[index] as SimulatedOrg)));
    await killed;
    for (const [index, [, { assert }]] of acts.entries()) assert(orgs[index] as SimulatedOrg, runs[index]);
  },
);
