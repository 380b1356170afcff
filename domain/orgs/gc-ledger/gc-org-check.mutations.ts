import type { Environment } from '../../projects/environments/environments.entities.ts';
import { environmentByName, listEnvironments } from '../../projects/environments/environments.queries.ts';
import { invalidField } from '../../kernel/shared/errors.ts';
import { matchesPattern } from '../../kernel/text/pattern-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import { announceComponents, type LedgerBranch } from './gc-announcements.ts';
import { type ChangedEntry, changeEntries, countEntries, recordSteps, type Step } from './gc-entries.queries.ts';
import {
  type Checked,
  evidenceOf,
  keepPresence,
  makePresenceUnknown,
  type Result,
  type TrackingOrg,
} from './gc-presence.queries.ts';
import { countByStatus } from './gc-events.mutations.ts';
import {
  afterOrgCheck,
  type ComponentName,
  derived,
  foldComponents,
  isReclaimable,
  type Presence,
  PRESENCES,
} from './gc-ledger-rules.ts';
import { type GcBranch, lockGcBranch, reviewEntries, stateOf } from './gc-review.queries.ts';
import { removeWithHistory } from './gc-removals.mutations.ts';

type Tracking = Pick<Environment, 'isActive' | 'orgUsername' | 'branch'>;

/** Why an environment cannot say anything about a branch; undefined when it can. */
export function untrackedReason(
  { isActive, orgUsername, branch: pattern }: Tracking,
  branch: string,
): string | undefined {
  if (!isActive) return 'is not active';
  if (orgUsername === null) return 'has no org';
  return matchesPattern(pattern, branch) ? undefined : `does not track the branch ${branch}`;
}

/** The orgs that may have what a branch drops. */
const trackingOrgs = async (tx: Tx, { projectId, branch }: GcBranch, since: Date | null): Promise<TrackingOrg[]> =>
  (await listEnvironments(tx, projectId)).flatMap((environment) =>
    untrackedReason(environment, branch) === undefined
      ? {
          environmentId: environment.id,
          orgUsername: (environment.orgUsername ?? '').toLowerCase(),
          isRelease: environment.category === 'release',
          askedSince: since,
        }
      : [],
  );

export interface OrgCheck {
  environment: string;
  results: readonly Result[];
  /** When the org was asked: what was detected since does not count. Absent: now. */
  checkedAt?: Date;
  /** The org that was asked: when the environment names another one by now, nothing is recorded. Absent: that one. */
  orgUsername?: string;
  /**
   * When the check began that asks all active orgs of the branch: what these said before is asked again and does not count,
   * so that the order in which they answer plays no part. Absent: a report of this one org.
   */
  askedSince?: Date;
}

/**
 * Takes in which components the org of an environment has. A component that is absent in the orgs of all active
 * environments which track the branch is removed from the ledger, with its history in the audit trail. Throws `invalid_request` for an
 * environment that is unknown, inactive, without org, or does not track the branch.
 */
export async function recordOrgCheck(tx: Tx, ledger: LedgerBranch, check: OrgCheck): Promise<void> {
  const { project, branch } = ledger;
  const at = { projectId: project.id, branch };
  await lockGcBranch(tx, at);
  const environment = await environmentByName(tx, project.id, check.environment);
  if (!environment) throw invalidField('environment', `the project has no environment ${check.environment}`);
  const reason = untrackedReason(environment, branch);
  if (reason !== undefined) throw invalidField('environment', `the environment ${environment.name} ${reason}`);
  const orgUsername = (environment.orgUsername ?? '').toLowerCase();
  if ((check.orgUsername ?? orgUsername).toLowerCase() !== orgUsername)
    throw invalidField('environment', `the environment ${environment.name} has another org by now`);
  const results = foldComponents(check.results);
  const asked = { environmentId: environment.id, orgUsername };
  const known = await keepPresence(tx, at, asked, results, check.checkedAt ?? tx.now);
  const orgs = await trackingOrgs(tx, at, check.askedSince ?? null);
  const tracking = { all: orgs.length, release: orgs.filter(({ isRelease }) => isRelease).length };
  const outcomes = (await evidenceOf(tx, known, orgs)).map((entry) => ({
    ...entry,
    outcome: afterOrgCheck(entry.status, entry, tracking),
  }));
  const changed = outcomes.filter(({ outcome, status }) => outcome !== status);
  const removed = changed.filter(({ outcome }) => outcome === 'removed');
  const reclaimed = changed.filter(({ outcome }) => outcome === 'reclaimed');
  const returned = changed.filter(({ outcome }) => outcome === 'detected');
  const steps = await moveOn(tx, at, environment.name, reclaimed, returned);
  await removeWithHistory(tx, ledger, removed);
  announceComponents(tx, ledger, 'reclaimed', [...reclaimed, ...removed.filter(({ status }) => isReclaimable(status))]);
  announceComponents(tx, ledger, 'detected', steps.detected);
  auditCheck(tx, ledger, environment, {
    summary: `The org of ${environment.name} was checked for ${results.length} components of branch ${branch}`,
    results: countByPresence(results),
    passedOver: results.length - known.length,
    removed: removed.length,
    changes: countByStatus(steps.all),
  });
}

const auditCheck = (
  tx: Tx,
  { project, branch }: LedgerBranch,
  { id, name }: Pick<Environment, 'id' | 'name'>,
  {
    summary,
    ...outcome
  }: { summary: string; results: Record<Presence, number>; removed: number; [more: string]: unknown },
): void => {
  tx.audit({
    source: 'crm',
    action: 'gc.org_checked',
    entityType: 'environment',
    entityId: id,
    repositoryIdentifier: project.identifier,
    summary,
    after: { branch, environment: name, ...outcome },
  });
};

/**
 * Records that the org of an environment could not be asked: what it said before counts no longer.
 * @returns the number of entries of the branch, all of which are unknown; 0 for an environment that is gone.
 */
export async function recordUncheckedOrg(tx: Tx, ledger: LedgerBranch, environmentName: string): Promise<number> {
  const { project, branch } = ledger;
  const at = { projectId: project.id, branch };
  await lockGcBranch(tx, at);
  const environment = await environmentByName(tx, project.id, environmentName);
  if (!environment) return 0;
  await makePresenceUnknown(tx, at, environment.id);
  const unknown = await countEntries(tx, at);
  auditCheck(tx, ledger, environment, {
    summary: `The org of ${environment.name} could not be checked for the components of branch ${branch}`,
    results: { present: 0, absent: 0, unknown },
    removed: 0,
  });
  return unknown;
}

const countByPresence = (results: readonly Result[]): Record<Presence, number> =>
  Object.fromEntries(
    PRESENCES.map((presence) => [presence, results.filter((result) => result.presence === presence).length]),
  ) as Record<Presence, number>;

/** Entries that are gone from the releases' orgs, and those that are back there, which manifests may explain. */
async function moveOn(
  tx: Tx,
  at: GcBranch,
  environment: string,
  reclaimed: readonly Checked[],
  returned: readonly Checked[],
): Promise<{ all: Step[]; detected: ComponentName[] }> {
  const all: Step[] = [];
  const changed: ChangedEntry[] = [];
  const detected: ComponentName[] = [];
  const plain = {
    movedTo: null,
    ownerProjectId: null,
    isReported: false,
    isNewDetection: false,
    isEvidenceVoid: false,
  };
  for (const { id, status } of reclaimed) {
    changed.push({ id, status: 'reclaimed', ...plain });
    all.push({ entryId: id, fromStatus: status, toStatus: 'reclaimed', cause: 'org_check', movedTo: null });
  }
  if (returned.length > 0) {
    const reported = returned.map(({ packageName, componentType, fullName }) => ({
      packageName,
      componentType,
      fullName,
      event: null,
    }));
    const { reviewed } = await reviewEntries(tx, at, reported, { isOfReported: true });
    for (const component of reviewed) {
      const before = stateOf(component);
      if (!before || component.id === null) continue;
      const after = derived({ ...plain, status: 'detected' }, component);
      changed.push({ ...plain, ...after, id: component.id });
      const { status: toStatus, movedTo } = after;
      all.push({ entryId: component.id, fromStatus: before.status, toStatus, cause: 'org_check', movedTo });
      if (toStatus === 'detected') detected.push(component);
    }
  }
  await changeEntries(tx, changed);
  await recordSteps(tx, at, all, { environment });
  return { all, detected };
}
