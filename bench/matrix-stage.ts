import type { Service } from './service.ts';

const CANDIDATES = 10_000;
const RECENT = 1_000;
export const ENVIRONMENTS = 30;
const PACKAGES = 5;
export const repositoryIdentifier = 'bench/matrix';

const insertCandidates = ({ database, tenantId }: Service, projectId: string) =>
  database.query(
    `insert into release_candidate (id, tenant_id, project_id, domain, release_name, commit_sha, branch, value, status, superseded_by, created_by, updated_by, created_at)
     select uuidv7(), $1, $2, 'domain-' || i % 4, 'release-' || i, md5(i::text), 'main',
       jsonb_build_object('artifacts', (select jsonb_object_agg('package-' || p, '1.' || i || '.0') from generate_series(1, $3) p), 'metadata', jsonb_build_object('build', i)),
       case when i <= $4 then 'in_progress' else 'finalized' end, case when i > $4 then 'release-1' end, 'bench', 'bench', now() - make_interval(mins => i)
     from generate_series(1, $5) i`,
    [tenantId, projectId, PACKAGES, RECENT, CANDIDATES],
  );

const insertDeployments = ({ database, tenantId }: Service, projectId: string) =>
  database.query(
    `insert into release_deployment (id, tenant_id, project_id, environment_id, candidate_id, domain, release_name, status, deployed_at, dedupe_key, packages, reported_by, applied_at)
     select uuidv7(), c.tenant_id, c.project_id, e.id, c.id, c.domain, c.release_name,
       case when e.orchestration_order % 10 = 9 then 'Failed' else 'Success' end, c.created_at + make_interval(secs => e.orchestration_order),
       'bench', c.value -> 'artifacts', '{"type": "user", "id": "bench", "email": "bench@example.com"}', now()
     from release_candidate c join environment e on e.tenant_id = c.tenant_id and e.project_id = c.project_id
     where c.tenant_id = $1 and c.project_id = $2 and (c.superseded_by is null or e.orchestration_order < 3)`,
    [tenantId, projectId],
  );

/**
 * 10,000 candidates of four domains and 30 environments: the newest 1,000 went to all environments, the others, which were
 * superseded, to three.
 */
export async function fillMatrix(service: Service): Promise<void> {
  const { id: projectId } = await service.call<{ id: string }>('POST', '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
  });
  for (let orchestrationOrder = 0; orchestrationOrder < ENVIRONMENTS; orchestrationOrder++)
    await service.call('POST', '/api/environments', {
      repositoryIdentifier,
      name: `environment-${orchestrationOrder}`,
      category: 'release',
      orchestrationOrder,
    });
  await insertCandidates(service, projectId);
  await insertDeployments(service, projectId);
  await service.database.query('vacuum analyze');
}
