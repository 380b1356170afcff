import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../../domain/kernel/audit/audit-rules.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { engineAway } from '../../../support/launch.ts';

const repositoryIdentifier = 'acme/shop';
const commitSha = 'a'.repeat(40);
const artifacts = { app: '1', lib: '1' };
let app: TestApp;
let place: { projectId: string; environmentId: string };
let candidate: Json;

beforeAll(async () => {
  app = await testApp({ launch: engineAway });
  const owner = app.as(app.owner);
  const { id: projectId } = await owner.post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
  });
  const { id: environmentId } = await owner.post(201, '/api/environments', {
    repositoryIdentifier,
    name: 'prod',
    category: 'release',
  });
  place = { projectId, environmentId };
  candidate = await owner.post(201, '/api/release-candidates', {
    repositoryIdentifier,
    domain: 'core',
    releaseName: 'r1',
    commitSha,
    value: { artifacts },
  });
});
afterAll(() => app.close());

interface Earlier {
  status?: string;
  packages?: object;
  details?: object[];
  metadata?: object;
  isRemoved?: boolean;
}

/** A deployment as processes of the version before store it, and what is kept with it. */
async function stored({
  status = 'Success',
  packages = artifacts,
  details = [],
  metadata,
  isRemoved = false,
}: Earlier) {
  const id = newId();
  const [row] = await app.sql<{ digest: string; installed: object; all: boolean; present: string }>(
    `with made as (
       insert into release_deployment (id, tenant_id, project_id, environment_id, candidate_id, domain, release_name, status, deployed_at,
         dedupe_key, packages, package_details, metadata, reported_by)
       values (?, ?, ?, ?, ?, 'core', 'r1', ?, now(), ?, ?::jsonb, ?::jsonb, ?::jsonb, '{}')
       returning *)
     select content_digest as digest, installed, installs_all as all, (select content_digest from release_candidate) as present from made`,
    [
      id,
      app.tenant.id,
      place.projectId,
      place.environmentId,
      isRemoved ? null : candidate.id,
      status,
      id,
      JSON.stringify(packages),
      JSON.stringify(details),
      metadata ? JSON.stringify(metadata) : null,
    ],
  );
  if (!row) throw new Error('Nothing was stored');
  return { hasPresentContent: row.digest === row.present, installed: row.installed, installsAll: row.all };
}

const ALL = { hasPresentContent: true, installed: artifacts, installsAll: true };

test.each<[string, Earlier, Awaited<ReturnType<typeof stored>>]>([
  ['a success counts with the present content', {}, ALL],
  [
    'one of some packages with those',
    { packages: { app: '1' } },
    { hasPresentContent: true, installed: { app: '1' }, installsAll: false },
  ],
  [
    'one of other packages is of other content',
    { packages: { app: '0', lib: '1' } },
    { hasPresentContent: false, installed: { app: '0', lib: '1' }, installsAll: true },
  ],
  [
    'as is one that names another commit',
    { metadata: { commitSha: 'b'.repeat(40) } },
    { ...ALL, hasPresentContent: false },
  ],
  ['a commit may be abbreviated', { metadata: { commitSha: 'AAAAAAA' } }, ALL],
  ['what is no commit shows nothing', { metadata: { commitSha: 'main' } }, ALL],
  [
    'a failed entry of a success is not installed',
    { details: [{ name: 'lib', status: 'Failed' }] },
    { hasPresentContent: true, installed: { app: '1' }, installsAll: false },
  ],
  [
    'a part without packages installed those whose entry says so',
    {
      status: 'Partial',
      details: [
        { name: 'app', status: 'Installed' },
        { name: 'lib', status: 'Success', error: 'no' },
      ],
    },
    { hasPresentContent: true, installed: { app: '1' }, installsAll: false },
  ],
  [
    'one that named packages installed those',
    { status: 'Partial', packages: { lib: '1' } },
    { hasPresentContent: true, installed: { lib: '1' }, installsAll: false },
  ],
  ['a failure nothing', { status: 'Failed' }, { hasPresentContent: true, installed: {}, installsAll: false }],
  ['without a candidate the content is unknown', { isRemoved: true }, { ...ALL, hasPresentContent: false }],
])('%s', async (_, earlier, expected) => {
  await expect(stored(earlier)).resolves.toEqual(expected);
});

test('the digest of a candidate follows its commit and its artifacts, and nothing else', async () => {
  const digest = async () => {
    const rows = await app.sql<{ digest: string }>('select content_digest as digest from release_candidate');
    return rows[0]?.digest;
  };
  const post = (more: object) =>
    app.as(app.owner).post(201, '/api/release-candidates', {
      repositoryIdentifier,
      domain: 'core',
      releaseName: 'r1',
      commitSha,
      value: { artifacts },
      ...more,
    });
  const first = await digest();
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  await post({ branch: 'main', value: { metadata: { a: 1 }, artifacts: { lib: '1', app: '1' } } });
  await expect(digest()).resolves.toBe(first);
  await post({ commitSha: 'b'.repeat(40) });
  const second = await digest();
  const strange = { ...artifacts, 'with "quotes" \\ and ü': '1 \u2028\t🚢' };
  await post({ value: { artifacts: strange } });
  const third = await digest();
  const content = canonicalJson({ commitSha, artifacts: strange });
  expect(third).toBe(createHash('sha256').update(content).digest('hex'));
  expect(new Set([first, second, third]).size).toBe(3);
  await post({});
  await expect(digest()).resolves.toBe(first);
});
