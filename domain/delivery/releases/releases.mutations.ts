import {
  lastInstallations,
  markRolledBack,
  replacedAt,
  storeRollback,
  type LastInstallation,
} from '../deployments/rollbacks.queries.ts';
import type { Environment } from '../../projects/environments/environments.entities.ts';
import { environmentByName, unknownEnvironment } from '../../projects/environments/environments.queries.ts';
import type { ProjectFacts } from '../../projects/projects/projects.queries.ts';
import { lockDomain } from '../release-candidates/candidate-locks.queries.ts';
import { DomainError, invalidField, notFound } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { type Rollback, reverseDelta } from './rollbacks/rollback-rules.ts';

export interface RollbackReport {
  /** Name of the environment. */
  environment: string;
  domain?: string | undefined;
  /** When; undefined: when another release was installed in its place, else now. */
  rolledBackAt?: Date | undefined;
  /** The release that runs there again. */
  target: string;
  rolledBackFrom: string;
  rolledBackBy: string;
}

/** The one domain in which both releases were deployed to the environment. Throws `not_found`, `ambiguous`. */
async function domainOf(
  tx: Tx,
  { id, name }: Environment,
  { domain, target, rolledBackFrom }: RollbackReport,
): Promise<string> {
  const targets = await lastInstallations(tx, id, { releaseName: target, domain });
  if (targets.length === 0) throw notFound(`A deployment of ${target} to ${name}`);
  const sources = await lastInstallations(tx, id, { releaseName: rolledBackFrom, domain });
  const both = targets.map((each) => each.domain).filter((each) => sources.some((source) => source.domain === each));
  if (both.length > 1)
    throw new DomainError(
      'ambiguous',
      `${target} and ${rolledBackFrom} were deployed in several domains: ${both.join(', ')}; name one`,
    );
  const [only] = both;
  if (only === undefined) throw notFound(`A deployment of ${rolledBackFrom} to ${name} in the same domain`);
  return only;
}

/**
 * Marks a release's record in an environment as the result of a rollback, with the changes of the way back. From now on
 * the release that was rolled back, and those between the two, do not count as deployed there. Retrying is safe.
 * Throws `not_found`, `ambiguous`, `invalid_request` for a time before the deployment or to come.
 */
export async function annotateRollback(tx: Tx, project: ProjectFacts, report: RollbackReport): Promise<void> {
  const environment = await environmentByName(tx, project.id, report.environment);
  if (!environment) throw await unknownEnvironment(tx, project.id, report.environment);
  const domain = await domainOf(tx, environment, report);
  await lockDomain(tx, project.id, domain);
  const { target, rolledBackFrom, rolledBackBy } = report;
  const [record] = await lastInstallations(tx, environment.id, { releaseName: target, domain });
  const [source] = await lastInstallations(tx, environment.id, { releaseName: rolledBackFrom, domain });
  const isRepeated = record?.rollback?.rolledBackFrom === rolledBackFrom && source?.rolledBackAt !== null;
  if (!record || !source || isRepeated) return;
  const rolledBackAt = await timeOfRollback(tx, source, report);
  const rollback: Rollback = {
    rolledBackFrom,
    rolledBackAt: rolledBackAt.toISOString(),
    rolledBackBy,
    skipAnalysis: true,
    packageChanges: reverseDelta(source.installed, record.installed),
  };
  await storeRollback(tx, record, rollback);
  await markRolledBack(tx, { target, source, rolledBackAt, rolledBackBy });
  recordRollback(tx, project, environment, { target, source, rollback });
}

/** When a release was rolled back: as it is said, else when another one came in its place, else now. */
async function timeOfRollback(tx: Tx, source: LastInstallation, { rolledBackAt }: RollbackReport): Promise<Date> {
  const deployedAt = new Date(source.deployedAt);
  if (rolledBackAt === undefined) {
    const found = (await replacedAt(tx, source)) ?? tx.now;
    return found < deployedAt ? deployedAt : found;
  }
  if (rolledBackAt > tx.now) throw invalidField('rolledBackAt', 'must not be later than now');
  if (rolledBackAt < deployedAt)
    throw invalidField(
      'rolledBackAt',
      `must not be before the deployment of ${source.releaseName}, at ${deployedAt.toISOString()}`,
    );
  return rolledBackAt;
}

function recordRollback(
  tx: Tx,
  { identifier: repositoryIdentifier }: ProjectFacts,
  { name: environmentName }: Environment,
  { target, source, rollback }: { target: string; source: LastInstallation; rollback: Rollback },
): void {
  const { domain, releaseName, candidateId, packages } = source;
  const release = { repositoryIdentifier, domain, releaseName };
  tx.audit({
    source: 'release',
    action: 'release.rolled_back',
    entityType: 'release_deployment',
    entityId: source.id,
    repositoryIdentifier,
    summary: `${releaseName} (${domain}) was rolled back to ${target} in ${environmentName}`,
    after: { ...release, environmentName, target, ...rollback },
  });
  emitEvent(tx, 'release.rolled_back', {
    ...release,
    candidateId,
    environmentName,
    reason: `Rolled back to ${target}`,
    packages,
    by: rollback.rolledBackBy,
  });
}
