import {
  claimSource,
  type DeployedSource,
  keepSource,
  sourceOfOrg,
} from '../../../../domain/delivery/org-deployments/org-sources.queries.ts';
import type { WorkerBackend } from '../../../../activities/backend.ts';
import { systemActor } from '../../../../domain/kernel/shared/actor.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import type { UnitOfWork } from '../../../../domain/unit-of-work.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';

const PLATFORM_ORG = '00D000000000001EAA';
let app: TestApp;
let backend: WorkerBackend;
let unit: UnitOfWork;
let projectId: string;
let orgId: string;
beforeAll(async () => {
  app = await testApp();
  backend = activityDeps(app);
  unit = backend.deps.actingAs(systemActor(app.tenantKey, 'flow'));
  const project = await app.as(app.owner).post(201, '/api/projects', { identifier: 'acme/claims', platform: 'host-a' });
  projectId = project.id;
});
afterAll(async () => {
  await backend.close();
  await app.close();
});
beforeEach(() => {
  orgId = newId();
});

const change = (commitSha: string, runId = newId()): DeployedSource => ({
  projectId,
  orgId,
  platformOrgId: PLATFORM_ORG,
  environmentId: null,
  commitSha,
  packages: null,
  runId,
  deploymentId: '0Af',
  settingsDigest: null,
  pending: [],
});
const claim = (
  { deploymentId: _, pending: __, packages: ___, settingsDigest: ____, ...source }: DeployedSource,
  baseSha: string | null,
  baseSettings: string | null = null,
) => unit((tx) => claimSource(tx, { ...source, baseSha, baseSettings }));
const keep = (source: DeployedSource) => unit((tx) => keepSource(tx, source));
const known = async () => {
  const row = await unit((tx) => sourceOfOrg(tx, projectId, orgId));
  return row?.platformOrgId === PLATFORM_ORG ? row.commitSha : null;
};

test('what an org runs is known when a deployment has ended, and not while one is under way', async () => {
  const first = change('a');
  await expect(claim(first, null)).resolves.toBe(true);
  await expect(known()).resolves.toBeNull();
  await keep(first);
  await expect(known()).resolves.toBe('a');
  const next = change('b');
  await expect(claim(next, 'a')).resolves.toBe(true);
  await expect(claim(next, 'a')).resolves.toBe(true);
  await expect(known()).resolves.toBeNull();
});

test('what was built upon something else than the org runs is not deployed', async () => {
  const first = change('a');
  await claim(first, null);
  await keep(first);
  const [one, other] = [change('b'), change('c')];
  await expect(claim(one, 'a')).resolves.toBe(true);
  await expect(claim(other, 'a')).resolves.toBe(false);
  await keep(one);
  await expect(claim(other, 'a')).resolves.toBe(false);
  await expect(known()).resolves.toBe('b');
});

test('what was built upon other settings than the org runs is not deployed', async () => {
  const first = { ...change('a'), settingsDigest: 'x' };
  await claim(first, null);
  await keep(first);
  await expect(claim(change('b'), 'a')).resolves.toBe(false);
  await expect(claim(change('b'), 'a', 'x')).resolves.toBe(true);
});

test('a deployment that another has overtaken leaves unknown what the org runs', async () => {
  const [one, other] = [change('a'), change('b')];
  await claim(one, null);
  await expect(claim(other, null)).resolves.toBe(true);
  await keep(one);
  await expect(known()).resolves.toBeNull();
  await keep(other);
  await expect(known()).resolves.toBe('b');
});
