import type { Environment } from '../environments/environments.entities.ts';
import type { ProjectFacts } from '../projects/projects.queries.ts';
import { lockDomain } from '../release-candidates/release-candidates.queries.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';
import { emitEvent } from '../webhooks/event-catalog.ts';
import { type Rollback, reverseDelta } from './rollback-rules.ts';

export interface RollbackReport {
  domain?: string | undefined;
  target: string;
  rolledBackFrom: string;
  rolledBackBy: string;
}

interface Deployed {
  id: string;
  domain: string;
  deployedAt: string;
  candidateId: string | null;
  packages: Record<string, string>;
  rollback: Rollback | null;
}

const lastSuccesses = (
  { sql, tenantId }: Tx,
  environmentId: string,
  releaseName: string,
  domain: string | undefined,
): Promise<Deployed[]> =>
  sql(
    `select distinct on (domain) id, domain, deployed_at as "deployedAt", candidate_id as "candidateId", packages, rollback
     from release_deployment
     where tenant_id = ? and environment_id = ? and release_name = ? and status = 'Success' and (?::text is null or domain = ?)
     order by domain, deployed_at desc, id desc`,
    [tenantId, environmentId, releaseName, domain ?? null, domain ?? null],
  );

/** The one domain in which both releases were deployed to the environment. Throws `not_found`, `ambiguous`. */
async function domainOf(
  tx: Tx,
  environment: Environment,
  { domain, target, rolledBackFrom }: RollbackReport,
): Promise<string> {
  const targets = await lastSuccesses(tx, environment.id, target, domain);
  if (targets.length === 0) throw notFound(`A deployment of ${target} to ${environment.name}`);
  const sources = new Set((await lastSuccesses(tx, environment.id, rolledBackFrom, domain)).map((each) => each.domain));
  const both = targets.map((each) => each.domain).filter((each) => sources.has(each));
  if (both.length > 1)
    throw new DomainError(
      'ambiguous',
      `${target} and ${rolledBackFrom} were deployed in several domains: ${both.join(', ')}; name one`,
    );
  const [only] = both;
  if (only === undefined) throw notFound(`A deployment of ${rolledBackFrom} to ${environment.name} in the same domain`);
  return only;
}

/**
 * Marks a release's record in an environment as the result of a rollback, with the delta of the way back. From now on
 * the release that was taken back, and those between the two, do not count as deployed there. A repetition changes
 * nothing. Throws `not_found`, `ambiguous`.
 */
export async function annotateRollback(
  tx: Tx,
  project: ProjectFacts,
  environment: Environment,
  report: RollbackReport,
): Promise<void> {
  const domain = await domainOf(tx, environment, report);
  await lockDomain(tx, project.id, domain);
  const { target, rolledBackFrom, rolledBackBy } = report;
  const [record] = await lastSuccesses(tx, environment.id, target, domain);
  const [source] = await lastSuccesses(tx, environment.id, rolledBackFrom, domain);
  if (!record || !source || record.rollback?.rolledBackFrom === rolledBackFrom) return;
  const rollback: Rollback = {
    rolledBackFrom,
    rolledBackAt: tx.now.toISOString(),
    rolledBackBy,
    skipAnalysis: true,
    packageChanges: reverseDelta(source.packages, record.packages),
  };
  await tx.sql(
    'update release_deployment set rollback = ?::jsonb, rolled_back_at = null, updated_at = now() where tenant_id = ? and id = ?',
    [JSON.stringify(rollback), tx.tenantId, record.id],
  );
  await takeBack(tx, environment, { domain, target, source, at: tx.now });
  const place = { repositoryIdentifier: project.identifier, domain, releaseName: rolledBackFrom };
  tx.audit({
    source: 'release',
    action: 'release.rolled_back',
    entityType: 'release_deployment',
    entityId: source.id,
    repositoryIdentifier: project.identifier,
    summary: `${rolledBackFrom} (${domain}) was rolled back to ${target} in ${environment.name}`,
    after: { ...place, environmentName: environment.name, target, ...rollback },
  });
  emitEvent(tx, 'release.rolled_back', {
    ...place,
    candidateId: source.candidateId,
    environmentName: environment.name,
    reason: `Rolled back to ${target}`,
    packages: source.packages,
    by: rolledBackBy,
  });
}

/** Takes out of "deployed" what came between the target, as it was deployed before, and the release taken back. */
async function takeBack(
  { sql, tenantId }: Tx,
  environment: Environment,
  { domain, target, source, at }: { domain: string; target: string; source: Deployed; at: Date },
): Promise<void> {
  await sql(
    `update release_deployment d set rolled_back_at = ?, updated_at = now()
     where d.tenant_id = ? and d.environment_id = ? and d.domain = ? and d.release_name <> ? and d.status = 'Success' and d.rolled_back_at is null
       and (d.deployed_at, d.id) <= (?::timestamptz, ?::uuid)
       and (d.id = ?::uuid or d.deployed_at > (
         select max(t.deployed_at) from release_deployment t
         where t.tenant_id = d.tenant_id and t.environment_id = d.environment_id and t.domain = d.domain and t.release_name = ?
           and t.status = 'Success' and t.deployed_at <= ?::timestamptz))`,
    [at, tenantId, environment.id, domain, target, source.deployedAt, source.id, source.id, target, source.deployedAt],
  );
}
