import { listEnvironments } from '../../projects/environments/environments.queries.ts';
import { projectById } from '../../projects/projects/projects.queries.ts';
import { DomainError, notFound } from '../../kernel/shared/errors.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { LedgerBranch } from './gc-announcements.ts';
import { checkById, checkUnderWay } from './gc-checks.queries.ts';
import { GcCheck, type GcCheckedEnvironment } from './gc-ledger.entities.ts';
import { untrackedReason } from './gc-org-check.mutations.ts';
import { lockGcBranch } from './gc-review.queries.ts';

/** A check of a branch as it is shown. */
export type GcCheckRow = NonNullable<Awaited<ReturnType<typeof checkById>>>;

/** Throws `not_found`. */
export async function gcCheck(tx: Tx, id: string): Promise<GcCheckRow> {
  const found = await checkById(tx, id);
  if (!found) throw notFound('The check');
  return found;
}

/**
 * Asks for a check of all orgs whose environments track a branch; one that is under way is joined. Throws
 * `invalid_request` where there is none to ask.
 */
export async function requestGcCheck(tx: Tx, { project, branch }: LedgerBranch): Promise<GcCheckRow> {
  const at = { projectId: project.id, branch };
  await lockGcBranch(tx, at);
  const running = await checkUnderWay(tx, at);
  if (running) return gcCheck(tx, running.id);
  const tracking = await trackingNames(tx, at);
  if (tracking.length === 0)
    throw new DomainError('invalid_request', `No active environment with an org tracks the branch ${branch}`);
  const id = newId();
  const { tenantId, actor } = tx;
  tx.em.create(GcCheck, { id, tenantId, ...at, requestedBy: actor.email });
  await tx.em.flush();
  tx.audit({
    source: 'crm',
    action: 'gc.check_requested',
    entityType: 'gc_check',
    entityId: id,
    repositoryIdentifier: project.identifier,
    summary: `${actor.email} asked for a check of the orgs of branch ${branch}`,
    after: { branch, environments: tracking },
  });
  return gcCheck(tx, id);
}

const trackingNames = async (tx: Tx, { projectId, branch }: { projectId: string; branch: string }): Promise<string[]> =>
  (await listEnvironments(tx, projectId))
    .filter((environment) => untrackedReason(environment, branch) === undefined)
    .map(({ name }) => name);

/** Begins a check; answers the environments to ask for. Undefined for one that has ended, or is gone. */
export async function beginGcCheck(tx: Tx, id: string): Promise<string[] | undefined> {
  const check = await tx.em.findOne(GcCheck, { tenantId: tx.tenantId, id });
  if (!check || check.endedAt) return undefined;
  check.status = 'running';
  await tx.em.flush();
  return trackingNames(tx, check);
}

/** Ends a check with what came of each environment; of one that has ended, nothing changes. */
export async function endGcCheck(
  tx: Tx,
  id: string,
  { environments, error = null }: { environments: GcCheckedEnvironment[]; error?: string | null },
): Promise<void> {
  const check = await tx.em.findOne(GcCheck, { tenantId: tx.tenantId, id });
  if (!check || check.endedAt) return;
  const status = error === null ? 'completed' : 'failed';
  Object.assign(check, { status, environments, error, endedAt: tx.now });
  await tx.em.flush();
  const project = await projectById(tx, check.projectId);
  tx.audit({
    source: 'crm',
    action: 'gc.check_ended',
    entityType: 'gc_check',
    entityId: id,
    repositoryIdentifier: project?.identifier ?? null,
    summary: `The check of the orgs of branch ${check.branch} ${status}`,
    after: { branch: check.branch, status, error, environments: environments.length },
  });
}
