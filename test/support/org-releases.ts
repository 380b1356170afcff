import type { Json } from './client.ts';
import { type CrmSimulator, crmSimulator } from '../simulators/crm-org/simulator.ts';
import type { OfferedVersion } from '../simulators/crm-org/packages.ts';
import type { SimulatedOrg } from '../simulators/crm-org/org.ts';
import { type TestApp, testApp } from './app.ts';
import { endedRun } from './ended-run.ts';
import { newRepository, type TestRepository } from './repository.ts';
import { sourceOf } from './source-builds.ts';
import { eventually, startWorker, type TestWorker } from './worker.ts';

const QUEUES = ['flows-v1', 'crm-v1', 'git-v1', 'approvals-v1', 'environment-locks-v1', 'releases-v1', 'system-v1'];

/** Releases that the service takes to simulated orgs; each test has a project, a repository and an environment `uat` of its own. */
export interface OrgReleases {
  app: TestApp;
  crm: CrmSimulator;
  org: SimulatedOrg;
  repository: TestRepository;
  repositoryIdentifier: string;
  /** An environment of category release, with an org of its own unless `orgUsername` is given. */
  environment: (name: string, more?: object) => Promise<SimulatedOrg>;
  /** Commits a package directory `app` with these classes, and names versions by aliases; null removes a class. */
  commit: (classes: Record<string, string | null>, versions?: readonly OfferedVersion[]) => string;
  cut: (releaseName: string, commitSha: string, artifacts?: Record<string, string>, more?: object) => Promise<Json>;
  start: (payload: object, status?: number) => Promise<Json>;
  shown: (run: Json) => Promise<Json>;
  ended: (run: Json) => Promise<Json>;
  ran: (payload: object) => Promise<Json>;
  output: (run: Json) => Promise<string>;
  /** Deployments that were recorded of a run. */
  recorded: (run: Json) => Promise<Json[]>;
  /** What the org took, in order. */
  ledger: () => string[];
}

const domain = 'core';
let made = 0;

export function orgReleases(): OrgReleases {
  const given = {} as OrgReleases;
  let worker: TestWorker;
  const owner = () => given.app.as(given.app.owner);
  beforeAll(async () => {
    given.crm = await crmSimulator([]);
    given.app = await testApp({
      env: { OUTBOUND_ALLOW: '127.0.0.0/8', ALLOW_LOCAL_GIT: 'true', SERVICE_PACE: '0.01' },
    });
    worker = await startWorker(given.app, QUEUES);
  });
  beforeEach(async () => {
    given.repository = newRepository();
    given.repositoryIdentifier = `acme/released-${++made}`;
    await owner().post(201, '/api/projects', {
      identifier: given.repositoryIdentifier,
      platform: 'host-a',
      remoteUrl: given.repository.path,
      configuration: { approvalPolicy: { skipApproval: true } },
    });
    given.org = await given.environment('uat');
  });
  afterEach(() => given.repository.remove());
  afterAll(async () => {
    await worker.stop();
    await given.app.close();
    await given.crm.close();
  });
  given.environment = async (name, more = {}) => {
    const org = await given.crm.addOrg({ name: `${name}-${made}`, kind: 'sandbox' });
    org.deployments.polls = { pending: 0, components: 1, tests: 1, finalizing: 0 };
    await owner().post(201, '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
    const environment = { repositoryIdentifier: given.repositoryIdentifier, name, category: 'release' };
    await owner().post(201, '/api/environments', { ...environment, orgUsername: org.username, ...more });
    return org;
  };
  given.commit = (classes, versions = []) => {
    const packageAliases = Object.fromEntries(
      versions.map(({ name, number: [major, minor, patch, build], id }) => [
        `${name}@${major}.${minor}.${patch}-${build}`,
        id,
      ]),
    );
    const files = Object.entries(classes).map(([name, code]) =>
      code === null
        ? Object.fromEntries(Object.keys(sourceOf.apexClass('app', name)).map((path) => [path, null]))
        : sourceOf.apexClass('app', name, code),
    );
    const project = sourceOf.project([{ path: 'app', default: true }], { packageAliases });
    return given.repository.commit({ files: Object.assign({}, project, ...files) as Record<string, string | null> });
  };
  given.cut = (releaseName, commitSha, artifacts = {}, more = {}) =>
    owner().post(201, '/api/release-candidates', {
      repositoryIdentifier: given.repositoryIdentifier,
      domain,
      releaseName,
      commitSha,
      value: { artifacts, ...more },
    });
  given.start = (payload, status = 202) =>
    owner().post(status, '/api/flows/run', {
      payload: {
        id: 'execute-release',
        repositoryIdentifier: given.repositoryIdentifier,
        domain,
        environmentName: 'uat',
        ...payload,
      },
    });
  given.shown = ({ id }) => owner().get(200, `/api/flows/runs/${id}`);
  given.ended = (run) => endedRun(given.app, run);
  given.ran = async (payload) => given.ended(await given.start(payload));
  given.output = async ({ id }) => (await owner().request(200, 'GET', `/api/flows/runs/${id}/output`)).text;
  given.recorded = ({ id }) =>
    eventually(
      () =>
        given.app.sql<Json>(
          `select d.status, d.release_name as release, d.installed, d.packages, d.package_details as details,
             d.metadata, d.rolled_back_at, d.applied_at as applied
           from release_deployment d where d.execution_id = ?`,
          [id],
        ),
      (rows) => rows.every(({ applied }) => applied !== null),
    );
  given.ledger = () => [
    ...given.org.packages.ledger.map(({ versionId }) => versionId),
    ...given.org.deployments.ledger.map(({ components, deletions }) =>
      [...components, ...deletions.map((each) => `-${each}`)].join(' '),
    ),
  ];
  return given;
}
