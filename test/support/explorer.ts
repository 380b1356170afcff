import { createHash } from 'node:crypto';
import { type CrmSimulator, crmSimulator } from '../simulators/crm-org/simulator.ts';
import type { SimulatedOrg } from '../simulators/crm-org/org.ts';
import { type TestApp, testApp } from './app.ts';
import type { ApiClient, Json } from './client.ts';
import { engineAway } from './launch.ts';
import { eventually } from './worker.ts';

export const EXPLORER = '/api/orgs/explorer';
export const INTERNAL = `${EXPLORER}/internal`;

export const queryOf = (query: Record<string, string | number | boolean>): string =>
  `?${new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]))}`;

export interface ExploredOrg {
  org: SimulatedOrg;
  orgUsername: string;
  repositoryIdentifier: string;
  /** What reads of one repository take. */
  place: { repositoryIdentifier: string; orgUsername: string };
}

/** Simulated orgs and an app without an engine, and who calls it. */
export interface ExplorerStage {
  crm: CrmSimulator;
  app: TestApp;
  owner: ApiClient;
  /** A worker outside, which reports what orgs have. */
  reporter: ApiClient;
}

/** Starts both for the tests of a file and stops them afterwards. @param use gets them before the first test. */
export function withExplorer(use: (stage: ExplorerStage) => void): void {
  let crm: CrmSimulator;
  let app: TestApp;
  beforeAll(async () => {
    crm = await crmSimulator();
    app = await testApp({ launch: engineAway });
    use({ crm, app, owner: app.as(app.owner), reporter: app.as(app.application) });
  });
  afterAll(async () => {
    await app.close();
    await crm.close();
  });
}

let made = 0;

/** A registered production org of its own that an environment of a project names. */
export async function exploredOrg(app: TestApp, crm: CrmSimulator): Promise<ExploredOrg> {
  const name = `explored-${++made}`;
  const org = await crm.addOrg({ name, kind: 'production' });
  const owner = app.as(app.owner);
  const repositoryIdentifier = `acme/${name}`;
  await owner.post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    defaultBranch: 'main',
  });
  await owner.post(201, '/api/environments', {
    repositoryIdentifier,
    name: 'prod',
    category: 'release',
    orgUsername: org.username,
  });
  await owner.post(201, '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
  const place = { repositoryIdentifier, orgUsername: org.username };
  return { org, orgUsername: org.username, repositoryIdentifier, place };
}

/** Waits until the org has no refresh requested or under way; answers its metadata. */
export const settled = (app: TestApp, { place }: ExploredOrg): Promise<Json> =>
  eventually(
    () => app.as(app.owner).get(200, `${EXPLORER}/metadata${queryOf(place)}`),
    ({ jobId }) => jobId === null,
  );

/** Refreshes the org, and waits until that is done. */
export async function refreshed(app: TestApp, explored: ExploredOrg, body: object = {}): Promise<Json> {
  const { jobId } = await app.as(app.owner).post(202, `${EXPLORER}/metadata/refresh`, { ...explored.place, ...body });
  const metadata = await settled(app, explored);
  if (metadata.data.lastSync?.jobId !== jobId) throw new Error(`another refresh ended: ${JSON.stringify(metadata)}`);
  return metadata;
}

export const sha = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

/** A file of a class as a worker outside reports it. */
export const classFile = (name: string, fileContent: string | null, state = 'Created') => ({
  fileName: `classes/${name}.cls`,
  fullName: name,
  type: 'ApexClass',
  state,
  fileContent,
});
export const classOf = (name: string, ...sourceData: object[]) => ({
  metadataType: 'ApexClass',
  memberName: name,
  sourceData,
});

/** A worker outside reports components. */
export const reported = (worker: ApiClient, { orgUsername }: ExploredOrg, ...components: object[]) =>
  worker.post(204, `${INTERNAL}/components/batch`, { orgUsername, components });

/** It says that it has reported all classes. */
export const syncReported = (worker: ApiClient, { orgUsername }: ExploredOrg, more: object = {}) =>
  worker.post(204, `${INTERNAL}/metadata-sync`, {
    orgUsername,
    typeNames: ['ApexClass'],
    syncedAt: new Date().toISOString(),
    duration: 0,
    typesCount: 1,
    componentsCount: 1,
    filesRetrieved: 2,
    failedTypes: [],
    ...more,
  });

/** How many components are kept of the org, and how many of them have both files of a class. */
export const countsOf = async (app: TestApp, { org }: ExploredOrg) => {
  const [counts] = await app.sql<{ components: number; whole: number }>(
    `select count(*)::int as components, count(*) filter (where files = 2)::int as whole from (
       select c.id, count(f.file_name) as files from org_component c left join org_component_file f on f.component_id = c.id
       where c.platform_org_id = ? group by c.id) counted`,
    [org.orgId],
  );
  return counts;
};

/** Gives the org so many classes. */
export const writeClasses = ({ org }: ExploredOrg, total: number): void => {
  for (let index = 0; index < total; index++) org.metadata.write(`classes/C${index}.cls`, `class C${index} {}`);
};

/** Asks for a refresh; answers its id. */
export const requested = async (app: TestApp, { place }: ExploredOrg): Promise<string> =>
  (await app.as(app.owner).post(202, `${EXPLORER}/metadata/refresh`, place)).jobId;

/** Waits until the refresh has listed. */
export const whenRetrieving = (app: TestApp, jobId: string) =>
  eventually(
    () => app.sql<{ step: string }>('select step from org_sync where id = ?', [jobId]),
    ([sync]) => sync?.step?.startsWith('Retrieving') ?? false,
  );

/** How often the org was called so far with an operation of its Metadata interface. */
export const callsTo = (crm: CrmSimulator, { org }: ExploredOrg, operation: string): number =>
  crm.requests.filter((request) => request.org === org.name && request.operation === operation).length;
