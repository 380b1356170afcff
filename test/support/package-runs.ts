import type { Json } from './client.ts';
import { type CrmSimulator, crmSimulator } from '../simulators/crm-org/simulator.ts';
import type { OrgPackages } from '../simulators/crm-org/packages.ts';
import type { OrgOptions, SimulatedOrg } from '../simulators/crm-org/org.ts';
import { type TestApp, testApp } from './app.ts';
import { endedRun } from './ended-run.ts';
import { newRepository, type TestRepository } from './repository.ts';
import { startWorker, type TestWorker } from './worker.ts';

/** Runs on packages of simulated orgs; each test has an org of its own, and the project a repository on this machine. */
export interface PackageRuns {
  app: TestApp;
  crm: CrmSimulator;
  org: SimulatedOrg;
  packages: OrgPackages;
  repository: TestRepository;
  /** A project without approvals. */
  repositoryIdentifier: string;
  register: (options: OrgOptions) => Promise<SimulatedOrg>;
  start: (payload: object, status?: number) => Promise<Json>;
  shown: (run: Json) => Promise<Json>;
  ended: (run: Json) => Promise<Json>;
  output: (run: Json) => Promise<string>;
  /** Does without the worker of the file meanwhile. */
  withoutWorker: (work: () => Promise<void>) => Promise<void>;
  /** Stores installation keys for the project. */
  keys: (keys: Record<string, string>) => Promise<void>;
}

let made = 0;
const QUEUES = ['flows-v1', 'crm-v1', 'approvals-v1', 'environment-locks-v1'];

export function packageRuns(): PackageRuns {
  const given = { repositoryIdentifier: 'acme/packages' } as PackageRuns;
  let worker: TestWorker;
  beforeAll(async () => {
    given.crm = await crmSimulator([]);
    given.repository = newRepository();
    given.app = await testApp({
      env: { OUTBOUND_ALLOW: '127.0.0.0/8', ALLOW_LOCAL_GIT: 'true', SERVICE_PACE: '0.01' },
    });
    worker = await startWorker(given.app, QUEUES);
    await given.app.as(given.app.owner).post(201, '/api/projects', {
      identifier: given.repositoryIdentifier,
      platform: 'host-a',
      remoteUrl: given.repository.path,
      configuration: { approvalPolicy: { skipApproval: true } },
    });
  });
  beforeEach(async () => {
    given.org = await given.register({ name: `packed-${++made}`, kind: 'production' });
    given.packages = given.org.packages;
  });
  afterAll(async () => {
    await worker.stop();
    await given.app.close();
    await given.crm.close();
    given.repository.remove();
  });
  given.register = async (options) => {
    const org = await given.crm.addOrg(options);
    await given.app.as(given.app.owner).post(201, '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
    return org;
  };
  given.start = ({ id = 'install-packages', ...payload }: Json, status = 202) =>
    given.app.as(given.app.owner).post(status, '/api/flows/run', {
      payload: {
        id,
        repositoryIdentifier: given.repositoryIdentifier,
        orgUsername: given.org.username,
        ...payload,
      },
    });
  given.shown = ({ id }) => given.app.as(given.app.owner).get(200, `/api/flows/runs/${id}`);
  given.ended = (run) => endedRun(given.app, run);
  given.output = async ({ id }) =>
    (await given.app.as(given.app.owner).request(200, 'GET', `/api/flows/runs/${id}/output`)).text;
  given.withoutWorker = async (work) => {
    await worker.stop();
    await work().finally(async () => {
      worker = await startWorker(given.app, QUEUES);
    });
  };
  given.keys = async (keys) => {
    const owner = given.app.as(given.app.owner);
    const kind = 'package-keys';
    const [before] = (await owner.get(200, `/api/integrations?kind=${kind}`)) as unknown as Json[];
    if (before) await owner.request(204, 'DELETE', `/api/integrations/${before.id}`);
    await owner.post(201, '/api/integrations', {
      kind,
      name: 'Keys',
      repositoryIdentifier: given.repositoryIdentifier,
      credentials: { type: 'keys', keys },
    });
  };
  return given;
}
