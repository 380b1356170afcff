import fc from 'fast-check';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { type Content, ReleaseModel, type Reported } from '../../../support/release-model.ts';
import { startWorker, type TestWorker } from '../../../support/worker.ts';

let app: TestApp;
let worker: TestWorker;
beforeAll(async () => {
  app = await testApp();
  worker = await startWorker(app, ['releases-v1', 'system-v1']);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
});

const RELEASES = ['r1', 'r2', 'r3'];
const ENVIRONMENTS = ['prod', 'uat'];
const START = Date.now() - 3_600_000;

const name = fc.constantFrom('a', 'b', 'c');
const version = fc.constantFrom('1', '2');
const packages = fc.dictionary(name, version, { noNullPrototype: true });
const content: fc.Arbitrary<Content> = fc.record({
  commitSha: fc.constantFrom('a'.repeat(40), 'a'.repeat(40), 'b'.repeat(40)),
  artifacts: fc.oneof(fc.constant({ a: '1', b: '1' }), fc.constant({ a: '2', b: '1' }), packages),
});
const detail = fc.oneof(
  fc.record({ name, status: fc.constantFrom('Installed', 'Failed', 'Queued') }),
  fc.record({ name, version, skipped: fc.constant(true) }),
  fc.record({ name, status: fc.constant('Installed'), error: fc.constant('timeout') }),
);
const event: fc.Arbitrary<Reported> = fc.record(
  {
    releaseName: fc.constantFrom(...RELEASES),
    environment: fc.constantFrom(...ENVIRONMENTS),
    status: fc.constantFrom('Success', 'Success', 'Success', 'Partial', 'Partial', 'Failed', 'Cancelled'),
    at: fc.integer({ min: 0, max: 12 }).map((minute) => START + minute * 60_000),
    executionId: fc.constantFrom('run-1', 'run-2', 'run-3', 'run-4', 'run-5', 'run-6'),
    packages,
    packageDetails: fc.array(detail, { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: ['releaseName', 'environment', 'status', 'at'] },
);
/** Successful reports of whole releases, which finalize. */
const success: fc.Arbitrary<Reported> = fc.record({
  releaseName: fc.constantFrom(...RELEASES),
  environment: fc.constantFrom(...ENVIRONMENTS),
  status: fc.constant('Success'),
  at: fc.integer({ min: 0, max: 12 }).map((minute) => START + minute * 60_000),
});
type Step =
  | { type: 'event'; event: Reported }
  | { type: 'post'; releaseName: string; content: Content }
  | { type: 'delete'; releaseName: string }
  | { type: 'rollback'; environment: string; target: string; from: string };
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: event.map((each): Step => ({ type: 'event', event: each })) },
  { weight: 3, arbitrary: success.map((each): Step => ({ type: 'event', event: each })) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('post' as const), releaseName: fc.constantFrom(...RELEASES), content }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('delete' as const), releaseName: fc.constantFrom(...RELEASES) }),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ environment: fc.constantFrom(...ENVIRONMENTS), pair: fc.shuffledSubarray(RELEASES, { minLength: 2 }) })
      .map(
        ({ environment, pair: [target = '', from = ''] }): Step => ({ type: 'rollback', environment, target, from }),
      ),
  },
);

let made = 0;
async function newStage() {
  const repositoryIdentifier = `acme/series-${++made}`;
  const owner = app.as(app.owner);
  const configuration = { autoReleaseFinalization: true };
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a', configuration });
  for (const environment of ENVIRONMENTS)
    await owner.post(201, '/api/environments', { repositoryIdentifier, name: environment, category: 'release' });
  const pipeline = app.as(app.application);
  const ids = new Map<string, string>();
  return {
    ids,
    async post(status: number, releaseName: string, { commitSha, artifacts }: Content) {
      const body = { repositoryIdentifier, domain: 'core', releaseName, commitSha, value: { artifacts } };
      const { id } = await pipeline.post(status, '/api/release-candidates', body);
      if (status === 201) ids.set(releaseName, id);
    },
    report({ environment, status, at, ...more }: Reported, query = '', code = 200): Promise<Json> {
      return pipeline.post(code, `/api/release-candidates/release-event${query}`, {
        ...more,
        repositoryIdentifier,
        domain: 'core',
        environmentName: environment,
        deploymentStatus: status,
        deployedAt: new Date(at).toISOString(),
      });
    },
    delete: (releaseName: string) => owner.delete(204, `/api/release-candidates/${ids.get(releaseName)}`),
    rollBack: (status: number, environment: string, target: string, rolledBackFrom: string) =>
      pipeline.post(status, '/api/releases/rollback-annotation', {
        repositoryIdentifier,
        environment,
        target,
        rolledBackFrom,
        rolledBackBy: 'dana@example.com',
      }),
    get: (path: string, query = {}): Promise<Json> =>
      app.as(app.member).get(200, `${path}?${new URLSearchParams({ repositoryIdentifier, ...query }).toString()}`),
    compare: (releaseName: string, environmentName: string): Promise<Json> =>
      pipeline.post(200, `/api/release-candidates/${ids.get(releaseName)}/compare`, { environmentName }),
    analysis: (): Promise<Json> =>
      pipeline.get(
        200,
        `/api/release-candidates/rolling-analysis/${encodeURIComponent(repositoryIdentifier)}/core?bypassCache=true`,
      ),
  };
}

/** What everybody who asks is told must be what the model says. */
async function expectAgreement(stage: Awaited<ReturnType<typeof newStage>>, model: ReleaseModel): Promise<void> {
  for (const releaseName of model.candidates.keys()) {
    const candidate = await app.as(app.member).get(200, `/api/release-candidates/${stage.ids.get(releaseName)}`);
    expect([releaseName, candidate.status]).toEqual([releaseName, model.candidates.get(releaseName)?.status]);
    for (const environment of ENVIRONMENTS) {
      const { deployment, comparison } = await stage.compare(releaseName, environment);
      expect([releaseName, environment, deployment]).toEqual([
        releaseName,
        environment,
        model.factOf(releaseName, environment),
      ]);
      const running = model.running(environment);
      const compared = [...comparison.packagesToInstall, ...comparison.packagesToUpdate, ...comparison.unchanged];
      for (const each of compared)
        expect([each.name, each.versions.from]).toEqual([each.name, running[each.name] ?? null]);
    }
  }
  const { releases } = await stage.get('/api/releases', { activeOnly: 'false' });
  for (const release of releases) {
    const missing = model.missing(release.name);
    expect([release.name, release.deploymentStatus.missing]).toEqual([release.name, missing]);
    expect(release.deploymentStatus.missingFromEnvironments).toEqual(missing.map(({ environment }) => environment));
    expect(release.deploymentStatus.status === 'completed').toBe(missing.length === 0);
    for (const each of release.environments) expect(each.deployment).toEqual(model.factOf(release.name, each.name));
    for (const { packageName, isFullyDeployed, trajectory } of release.packageStatuses) {
      const isHeld = packageName in model.contentOf(release.name).artifacts;
      if (missing.length === 0 && isHeld) expect([packageName, isFullyDeployed]).toEqual([packageName, true]);
      for (const { environment, reason, packages: open } of missing)
        if (reason === 'partial' && isHeld) expect(trajectory.includes(environment)).toBe(!open.includes(packageName));
    }
  }
  await expectMatrixAgreement(stage, model);
  const analysis = await stage.analysis();
  for (const environment of ENVIRONMENTS)
    expect(analysis.currentEnvironmentStates[environment].packages).toEqual(model.running(environment));
  const complete = [...model.candidates.keys()].findLast((releaseName) => model.missing(releaseName).length === 0);
  expect(analysis.baseline?.isDefaultBaseline).toBe(complete === undefined);
  if (complete !== undefined) expect(analysis.baseline.releaseName).toBe(complete);
  for (const { releaseName, deployedEnvironments } of analysis.candidates)
    expect(deployedEnvironments).toEqual(
      ENVIRONMENTS.filter((environment) => model.factOf(releaseName, environment).isDeployed),
    );
}

/** Each cell says of its candidate and environment what a comparison, and the lists of releases, say. */
async function expectMatrixAgreement(stage: Awaited<ReturnType<typeof newStage>>, model: ReleaseModel): Promise<void> {
  const where: Json[] = (await stage.get('/api/releases/where')) as never;
  const active = await stage.get('/api/releases', { activeOnly: 'true' });
  expect(new Set(where.map(({ releaseName }) => releaseName))).toEqual(
    new Set(active.releases.map(({ name: releaseName }: Json) => releaseName)),
  );
  const runs = (releaseName: string, environment: string) =>
    where.some((each) => each.releaseName === releaseName && each.environment === environment);
  const { columns, rows, total } = await stage.get('/api/releases/matrix', { includeSuperseded: 'true' });
  expect(rows.map(({ releaseName }: Json) => releaseName).toSorted()).toEqual([...model.candidates.keys()].toSorted());
  expect(total).toBe(rows.length);
  for (const { releaseName, status, cells } of rows) {
    expect([releaseName, status]).toEqual([releaseName, model.candidates.get(releaseName)?.status]);
    for (const [index, cell] of cells.entries()) {
      const environment = columns[index].name;
      const fact = model.factOf(releaseName, environment);
      const state = fact.isDeployed ? (runs(releaseName, environment) ? 'deployed' : 'installed_before') : fact.reason;
      expect([releaseName, environment, cell.state, cell.missingPackages]).toEqual([
        releaseName,
        environment,
        state,
        fact.packages,
      ]);
      if (fact.isDeployed) expect(cell.since).toBe(fact.deployedAt);
      expect(cell.since === null).toBe(state === 'never');
      expect(cell.by === null).toBe(state === 'never');
    }
  }
  const usual = await stage.get('/api/releases/matrix');
  const shown = new Set(usual.rows.map(({ releaseName }: Json) => releaseName));
  expect(usual.total).toBe(shown.size);
  for (const { releaseName, isSuperseded } of rows)
    if (!isSuperseded || ENVIRONMENTS.some((environment) => runs(releaseName, environment)))
      expect(shown).toContain(releaseName);
}

test('events, their dry runs and all who ask where a release is deployed agree, whatever is reported in whatever order', async () => {
  let finalized = 0;
  let deployed = 0;
  let removed = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(content, { minLength: 3, maxLength: 3 }),
      fc.array(step, { minLength: 4, maxLength: 16, size: 'max' }),
      async (contents, steps) => {
        const stage = await newStage();
        const model = new ReleaseModel(ENVIRONMENTS);
        for (const [index, each] of contents.entries()) {
          const releaseName = RELEASES[index] ?? '';
          model.post(releaseName, each);
          await stage.post(201, releaseName, each);
        }
        for (const each of steps) {
          if (each.type === 'event' && !model.candidates.has(each.event.releaseName)) {
            await stage.report(each.event, '', 404);
          } else if (each.type === 'event') {
            const dry = await stage.report(each.event, '?dryRun=true');
            const real = await stage.report(each.event);
            expect(real).toEqual(dry);
            const { message: _, ...decided } = real;
            expect(decided).toEqual({ ...model.event(each.event), policyViolations: [], warnings: [] });
          } else if (each.type === 'delete') {
            if (!model.candidates.has(each.releaseName)) continue;
            model.remove(each.releaseName);
            await stage.delete(each.releaseName);
          } else if (each.type === 'post') {
            const isTaken = model.post(each.releaseName, each.content);
            await stage.post(isTaken ? 201 : 409, each.releaseName, each.content);
          } else {
            const isKnown = model.rollBack(each.environment, each.target, each.from);
            await stage.rollBack(isKnown ? 204 : 404, each.environment, each.target, each.from);
          }
        }
        await expectAgreement(stage, model);
        removed += RELEASES.filter(
          (one) => !model.candidates.has(one) && model.contentOf(one).contentDigest !== '',
        ).length;
        finalized += [...model.candidates.values()].filter(({ status }) => status === 'finalized').length;
        deployed += [...model.candidates.keys()].filter((one) =>
          ENVIRONMENTS.some((place) => model.factOf(one, place).isDeployed),
        ).length;
      },
    ),
    { ...propertyRuns(8, 25), endOnFailure: process.env.DEEP_TESTS === undefined },
  );
  expect(finalized).toBeGreaterThan(0);
  expect(deployed).toBeGreaterThan(0);
  expect(removed).toBeGreaterThan(0);
});
