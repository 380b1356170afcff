import fc from 'fast-check';
import { deploymentFact, type StoredReport } from '../../../../domain/delivery/deployments/deployed-rules.ts';
import { deploymentFacts } from '../../../../domain/delivery/deployments/deployment-facts.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { artifactsOf, reportSeries } from '../../../support/deployment-model.ts';
import { engineAway } from '../../../support/launch.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const repositoryIdentifier = 'acme/shop';
let app: TestApp;
let projectId: string;
const environmentIds: string[] = [];

beforeAll(async () => {
  app = await testApp({ launch: engineAway });
  const owner = app.as(app.owner);
  ({ id: projectId } = await owner.post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
  }));
  for (const name of ['uat', 'prod'])
    environmentIds.push(
      (await owner.post(201, '/api/environments', { repositoryIdentifier, name, category: 'release' })).id,
    );
});
afterAll(() => app.close());

const candidate = (releaseName: string, artifacts: object) =>
  app.as(app.member).post(201, '/api/release-candidates', {
    repositoryIdentifier,
    domain: 'core',
    releaseName,
    commitSha: 'abcdef0',
    value: { artifacts },
  });

/** Packages of contents by their digests. */
type Contents = Record<string, Record<string, string>>;

/** Stores reports as they are, whatever would have been made of them. */
async function insert(environmentId: string, reports: readonly StoredReport[], contents: Contents): Promise<void> {
  for (const { candidateId, contentDigest, status, deployedAt, receivedAt, isRolledBack, installed } of reports)
    await app.sql(
      `insert into release_deployment (id, tenant_id, project_id, environment_id, candidate_id, domain, release_name, status,
         deployed_at, created_at, dedupe_key, content_digest, installed, installs_all, rolled_back_at, reported_by, applied_at)
       select v.id::uuid, ?::uuid, ?::uuid, ?::uuid, v.candidate::uuid, 'core', 'any', v.status, v.deployed_at::timestamptz, v.created_at::timestamptz, v.id, v.digest, v.installed::jsonb,
         v.status = 'Success' and v.installed::jsonb @> coalesce(?::jsonb -> v.digest, 'null'), case when v.rolled_back then now() end, '{}', now()
       from (values (?, ?, ?, ?, ?, ?, ?, ?::boolean)) as v (id, candidate, status, deployed_at, created_at, digest, installed, rolled_back)`,
      [
        app.tenant.id,
        projectId,
        environmentId,
        JSON.stringify(contents),
        newId(),
        candidateId,
        status,
        new Date(deployedAt).toISOString(),
        new Date(receivedAt).toISOString(),
        contentDigest,
        JSON.stringify(installed),
        isRolledBack,
      ],
    );
}

test('what is read of stored reports comes to the same as all of them', async () => {
  let made = 0;
  await fc.assert(
    fc.asyncProperty(artifactsOf, reportSeries, reportSeries, async (artifacts, first, second) => {
      await app.sql('delete from release_deployment');
      const name = `r${++made}`;
      const own = await candidate(name, artifacts);
      const others = { second: (await candidate(`${name}-2`, {})).id, third: (await candidate(`${name}-3`, {})).id };
      const [row] = await app.sql<{ digest: string }>(
        'select content_digest as digest from release_candidate where id = ?',
        [own.id],
      );
      const digest = row?.digest ?? '';
      const ids: Record<string, string> = { own: own.id, ...others };
      const series = [first, second].map((reports) =>
        reports.map((each) => ({
          ...each,
          candidateId: each.candidateId && (ids[each.candidateId] ?? null),
          contentDigest: each.contentDigest === 'now' ? digest : each.contentDigest,
        })),
      );
      for (const [index, reports] of series.entries())
        await insert(environmentIds[index] ?? '', reports, { [digest]: artifacts, second: { a: '1' } });

      const facts = await deploymentFacts({ db: app.db, tenantId: app.tenant.id }, [
        { id: own.id, contentDigest: digest, value: { artifacts } },
        { id: others.second, contentDigest: 'second', value: { artifacts: { a: '1' } } },
      ]);
      for (const [index, environmentId] of environmentIds.entries()) {
        const reports = series[index] ?? [];
        expect(facts(own.id, environmentId)).toEqual(
          deploymentFact({ candidateId: own.id, contentDigest: digest, artifacts }, reports),
        );
        expect(facts(others.second, environmentId)).toEqual(
          deploymentFact({ candidateId: others.second, contentDigest: 'second', artifacts: { a: '1' } }, reports),
        );
      }
    }),
    propertyRuns(10, 60),
  );
});
