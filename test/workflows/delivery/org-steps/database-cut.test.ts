import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { databaseAway } from '../../../support/database-outage.ts';
import { endedRun } from '../../../support/ended-run.ts';
import { newRepository, type TestRepository } from '../../../support/repository.ts';
import { sourceOf } from '../../../support/source-builds.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const repositoryIdentifier = 'acme/cut';
/** How often a deployment is cut from its database, at each of its calls. */
const CUTS = process.env.DEEP_TESTS ? 40 : 2;
const CALLS = [/deployRequest$/, /deployRequest\/0Af/];

let app: TestApp;
let crm: CrmSimulator;
let worker: TestWorker;
let remote: TestRepository;
let commitId: string;
beforeAll(async () => {
  crm = await crmSimulator([]);
  app = await testApp({ env: { OUTBOUND_ALLOW: '127.0.0.0/8', ALLOW_LOCAL_GIT: 'true', SERVICE_PACE: '0.01' } });
  worker = await startWorker(app, ['flows-v1', 'crm-v1', 'git-v1', 'approvals-v1']);
  remote = newRepository();
  commitId = remote.commit({
    files: { ...sourceOf.project([{ path: 'app' }]), ...sourceOf.apexClass('app', 'Invoice') },
  });
  await app.as(app.owner).post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    remoteUrl: remote.path,
    configuration: { approvalPolicy: { skipApproval: true } },
  });
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  await crm.close();
  remote.remove();
});

test.each(Array.from({ length: CUTS }, (_, cut) => cut))(
  'a database that is away while an org answers (%i) makes nothing be asked for twice, and nothing be lost',
  async (cut) => {
    const org = await crm.addOrg({ name: `cut-${cut}`, kind: 'sandbox' });
    const owner = app.as(app.owner);
    await owner.post(201, '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
    const call = CALLS[cut % CALLS.length] as RegExp;
    const release = org.hold(call);
    const run = await owner.post(202, '/api/flows/run', {
      payload: { id: 'install-artifacts', repositoryIdentifier, orgUsername: org.username, commitId },
    });
    await eventually(
      async () => crm.requests.some(({ org: name, path }) => name === org.name && call.test(path)),
      Boolean,
    );
    const back = await databaseAway(app);
    release();
    await back();
    await eventually(
      () => owner.send('GET', `/api/flows/runs/${run.id}`),
      ({ status }) => status === 200,
    );
    await expect(endedRun(app, run)).resolves.toMatchObject({ status: 'Completed', result: { components: 1 } });
    expect(org.deployments.all).toHaveLength(1);
    expect(org.deployments.ledger).toMatchObject([{ components: ['ApexClass:Invoice'] }]);
  },
);
