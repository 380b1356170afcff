import type { Json } from '../../../support/client.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { SimulatedOrg } from '../../../simulators/crm-org/org.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { cutRelease, success } from '../../../support/releases.ts';
import { newRepository, type TestRepository } from '../../../support/repository.ts';
import { sourceOf } from '../../../support/source-builds.ts';
import {
  eventually,
  startWorker,
  startWorkerProcess,
  type TestWorker,
  type TestWorkerProcess,
} from '../../../support/worker.ts';

/** The kills of a round come while a run of each type is under way. */
const [ROUNDS, KILLS] = process.env.DEEP_TESTS ? [25, 8] : [2, 1];
/** An activity whose worker was killed is tried again after ten seconds and more, each time. */
const NET_MS = 120_000 + KILLS * 60_000;
const repositoryIdentifier = 'acme/killed';
const DYING = ['crm-v1', 'git-v1'];

let app: TestApp;
let crm: CrmSimulator;
/** It does not act in orgs, and lives on. */
let worker: TestWorker;
let dying: TestWorkerProcess;
let remote: TestRepository;
let commitId: string;
let changedId: string;
let made = 0;
beforeAll(async () => {
  crm = await crmSimulator([]);
  app = await testApp({ env: { OUTBOUND_ALLOW: '127.0.0.0/8', ALLOW_LOCAL_GIT: 'true', SERVICE_PACE: '0.02' } });
  remote = newRepository();
  commitId = remote.commit({
    files: { ...sourceOf.project([{ path: 'app' }]), ...sourceOf.apexClass('app', 'Invoice') },
  });
  changedId = remote.commit({ files: sourceOf.apexClass('app', 'Invoice', ' Integer total; ') });
  worker = await startWorker(app, ['flows-v1', 'approvals-v1', 'environment-locks-v1', 'releases-v1', 'system-v1']);
  dying = await startWorkerProcess(app, DYING);
  await app.as(app.owner).post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    remoteUrl: remote.path,
    configuration: { approvalPolicy: { skipApproval: true } },
  });
});
afterAll(async () => {
  await dying.kill('SIGKILL');
  await worker.stop();
  await app.close();
  await crm.close();
  remote.remove();
});

interface Act {
  /** Makes what the org needs before, and answers what the run is asked for. */
  prepare: (org: SimulatedOrg) => object | Promise<object>;
  /** What takes the run on while it waits for the org, or for people. */
  goOn?: (org: SimulatedOrg, run: Json) => Promise<unknown>;
  /** What the run is asked for that comes after it. */
  next?: (org: SimulatedOrg) => object;
  /** What must hold at the end, whatever was killed. */
  assert: (org: SimulatedOrg, run: Json, next?: Json) => void;
}

const PEOPLE = ['ada@x.example', 'bob@x.example'];
const addPeople = ({ people }: SimulatedOrg) => PEOPLE.forEach((name) => people.addUser(name));
const installs = ({ packages }: SimulatedOrg) => packages.ledger.map(({ act, versionId }) => `${act} ${versionId}`);

/** The org of a release is that of its environment. */
const releaseOf = ({ name }: SimulatedOrg) => ({ domain: 'core', environmentName: name, orgUsername: undefined });

const ACTS: Record<string, Act> = {
  'request-freeze-users': {
    prepare(org) {
      addPeople(org);
      return { usernames: PEOPLE };
    },
    assert({ people }, run) {
      expect(run).toMatchObject({ status: 'Completed', success: { error: null } });
      const frozen = [...people.users.values()].filter(({ login }) => login.isFrozen).map(({ username }) => username);
      expect(frozen.toSorted()).toEqual(PEOPLE);
    },
  },
  'request-elevated-privileges': {
    prepare(org) {
      addPeople(org);
      org.people.addSet('Debugger');
      return { usernames: PEOPLE, permissionSets: ['Debugger'], durationMinutes: 60 };
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
    prepare({ copies, username }) {
      copies.addGroup('Testers');
      return {
        productionUsername: username,
        sandboxName: 'qa',
        licenseType: 'Developer',
        activationGroup: 'Testers',
      };
    },
    async goOn({ copies }, run) {
      const isCopying = run.steps[1] !== undefined && run.steps[1].progress !== null;
      if (isCopying && copies.copy('qa').status !== 'Completed') await copies.finish('qa');
    },
    assert({ copies }, run) {
      expect(run).toMatchObject({ status: 'Completed', success: { error: null } });
      expect(copies.ledger.map(({ act, name }) => `${act} ${name}`)).toEqual(['create qa']);
    },
  },
  'install-artifacts': {
    prepare: () => ({ commitId }),
    assert({ deployments }, run) {
      expect(run).toMatchObject({ status: 'Completed', result: { components: 1 } });
      expect(deployments.all).toHaveLength(1);
      expect(deployments.ledger).toMatchObject([{ components: ['ApexClass:Invoice'] }]);
    },
  },
  'run-apex-tests': {
    prepare({ apexTests }) {
      apexTests.addClass('InvoiceTest', ['adds']);
      return {};
    },
    assert({ apexTests }, run) {
      expect(run).toMatchObject({ status: 'Completed', result: { tests: { passed: 1 } } });
      expect(apexTests.jobs).toHaveLength(1);
    },
  },
  'install-packages': {
    prepare({ packages }) {
      const base = packages.offer('Base');
      const top = packages.offer('Top', { needs: [base.id] });
      return { packages: { Top: top.id } };
    },
    assert(org, run) {
      expect(run).toMatchObject({ status: 'Completed', success: { error: null } });
      expect(installs(org)).toEqual([...org.packages.installed.values()].map(({ id }) => `install ${id}`));
      expect(org.packages.installed.size).toBe(2);
    },
  },
  'execute-release': {
    async prepare(org) {
      const { id } = org.packages.offer('Base');
      const owner = app.as(app.owner);
      const { username: orgUsername } = org;
      await owner.post(201, '/api/environments', {
        repositoryIdentifier,
        name: org.name,
        category: 'test',
        orgUsername,
      });
      for (const [releaseName, commitSha] of Object.entries({
        [`${org.name}-1`]: commitId,
        [`${org.name}-2`]: changedId,
      }))
        await cutRelease(app, repositoryIdentifier, releaseName, {
          commitSha,
          value: { artifacts: { Base: id, app: releaseName } },
        });
      const before = success(repositoryIdentifier, `${org.name}-1`, org.name);
      await app.as(app.application).post(200, '/api/release-candidates/release-event', before);
      return { ...releaseOf(org), releaseName: `${org.name}-2` };
    },
    next: (org) => ({ ...releaseOf(org), id: 'rollback-release' }),
    assert(org, run, back) {
      expect(run).toMatchObject({
        status: 'Completed',
        result: { form: 'whole', packages: [{ outcome: 'installed' }] },
      });
      expect(back).toMatchObject({ status: 'Completed', result: { form: 'delta', commitSha: commitId } });
      expect(installs(org)).toEqual([expect.stringMatching(/^install 04t/)]);
      const invoice = { components: ['ApexClass:Invoice'], deletions: [] };
      expect(org.deployments.ledger).toMatchObject([invoice, invoice]);
      expect(org.deployments.all).toHaveLength(2);
    },
  },
  'uninstall-packages': {
    prepare({ packages }) {
      packages.has(packages.offer('Old'));
      return { packages: ['Old'] };
    },
    assert(org, run) {
      expect(run).toMatchObject({ status: 'Completed', success: { error: null } });
      expect(installs(org)).toEqual([expect.stringMatching(/^uninstall 04t/)]);
      expect(org.packages.installed.size).toBe(0);
    },
  },
};

/** Starts a run, and follows it to its end. */
async function follow(id: string, org: SimulatedOrg, payload: object): Promise<Json> {
  const started = await app.as(app.owner).post(202, '/api/flows/run', {
    payload: { id, repositoryIdentifier, orgUsername: org.username, ...payload },
  });
  return eventually(
    async () => {
      const run = await app.as(app.owner).get(200, `/api/flows/runs/${started.id}`);
      if (run.success === null) await ACTS[id]?.goOn?.(org, run);
      return run;
    },
    (run) => run.success !== null,
    NET_MS,
  );
}

/**
 * Kills the worker when orgs have been asked so often, and as many who come after it, soon after they begin; another one
 * comes each time. Answers a function that waits for the last one, and says how many were killed.
 */
function killFrom(moment: number, orgs: readonly SimulatedOrg[]): () => Promise<number> {
  let [asked, next, kills] = [0, moment, 0];
  let restarted = Promise.resolve();
  const kill = async () => {
    await dying.kill('SIGKILL');
    dying = await startWorkerProcess(app, DYING);
    if (next > 0) next = kills < KILLS ? asked + 1 + (kills % 3) : 0;
  };
  for (const org of orgs)
    org.breaksOff = async () => {
      if (++asked !== next) return false;
      kills++;
      restarted = kill();
      return true;
    };
  return async () => {
    next = 0;
    await restarted;
    return kills;
  };
}

/** Before and after each of some 60 requests of a round; far from each other where there are few. */
const momentOf = (round: number): number => 1 + ((round * 37 + 9) % 90);

test.each(Array.from({ length: ROUNDS }, (_, round) => momentOf(round)))(
  'a worker that is killed at moment %i of the calls to orgs leaves nothing undone, and does nothing twice',
  async (moment) => {
    const round = ++made;
    const acts = Object.entries(ACTS);
    const prepared = await Promise.all(
      acts.map(async ([id, act]) => {
        const org = await crm.addOrg({ name: `org-${round}-${id}`, kind: 'production' });
        const payload = await act.prepare(org);
        await app.as(app.owner).post(201, '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
        return { ...act, id, org, payload };
      }),
    );
    const killed = killFrom(
      moment,
      prepared.map(({ org }) => org),
    );
    const runs = await Promise.all(
      prepared.map(async ({ id, org, payload, next }) => {
        const run = await follow(id, org, payload);
        return [run, ...(next ? [await follow(id, org, next(org))] : [])] as const;
      }),
    ).finally(killed);
    await expect(killed()).resolves.toBe(KILLS);
    for (const [index, { assert, org }] of prepared.entries()) assert(org, ...(runs[index] ?? [{}]));
  },
  NET_MS + 60_000,
);
