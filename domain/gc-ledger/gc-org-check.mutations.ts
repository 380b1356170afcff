import type { Environment } from '../environments/environments.entities.ts';
import { environmentByName, listEnvironments } from '../environments/environments.queries.ts';
import { invalidField } from '../shared/errors.ts';
import { matchesPattern } from '../shared/pattern-rules.ts';
import type { Tx } from '../unit-of-work.ts';
import { announceComponents, type LedgerPlace } from './gc-announcements.ts';
import {
  type ChangedEntry,
  changeEntries,
  type Checked,
  evidenceOf,
  keepPresence,
  recordSteps,
  removeEntries,
  type Result,
  type Step,
} from './gc-entries.queries.ts';
import { countByStatus } from './gc-events.mutations.ts';
import {
  afterOrgCheck,
  type ComponentName,
  derived,
  foldComponents,
  type Presence,
  PRESENCES,
} from './gc-ledger-rules.ts';
import { type GcBranch, lockGcBranch, reviewEntries, stateOf } from './gc-review.queries.ts';

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

export interface OrgCheck {
  environment: string;
  results: readonly Result[];
  /** When the org was asked: what was detected since does not count. Absent: now. */
  checkedAt?: Date;
}

/**
 * Takes in which components the org of an environment has. A component that is absent in the orgs of all environments
 * which track the branch is removed from the ledger, with its history in the audit trail. Throws `invalid_request` for an
 * environment that is unknown, inactive, without org, or does not track the branch.
 */
export async function recordOrgCheck(tx: Tx, place: LedgerPlace, check: OrgCheck): Promise<void> {
  const { project, branch } = place;
  const at = { projectId: project.id, branch };
  await lockGcBranch(tx, at);
  const environment = await environmentByName(tx, project.id, check.environment);
  if (!environment) throw invalidField('environment', `the project has no environment ${check.environment}`);
  const reason = untrackedReason(environment, branch);
  if (reason !== undefined) throw invalidField('environment', `the environment ${environment.name} ${reason}`);
  const results = foldComponents(check.results);
  const known = await keepPresence(tx, at, environment.id, results, check.checkedAt ?? tx.now);
  const tracking = (await listEnvironments(tx, project.id)).filter(
    (each) => untrackedReason(each, branch) === undefined,
  );
  const environmentIds = tracking.map(({ id }) => id);
  const releaseIds = tracking.filter(({ category }) => category === 'release').map(({ id }) => id);
  const outcomes = (await evidenceOf(tx, known, { environmentIds, releaseIds })).map((entry) => ({
    ...entry,
    outcome: afterOrgCheck(entry.status, entry, { all: environmentIds.length, release: releaseIds.length }),
  }));
  const changed = outcomes.filter(({ outcome, status }) => outcome !== status);
  const removed = changed.filter(({ outcome }) => outcome === 'removed');
  const reclaimed = changed.filter(({ outcome }) => outcome === 'reclaimed');
  const returned = changed.filter(({ outcome }) => outcome === 'detected');
  const steps = await moveOn(tx, at, environment.name, reclaimed, returned);
  await removeWithHistory(tx, place, removed);
  announceComponents(tx, place, 'reclaimed', [...reclaimed, ...removed.filter(({ status }) => status !== 'reclaimed')]);
  announceComponents(tx, place, 'detected', steps.detected);
  tx.audit({
    source: 'crm',
    action: 'gc.org_checked',
    entityType: 'environment',
    entityId: environment.id,
    repositoryIdentifier: project.identifier,
    summary: `The org of ${environment.name} was checked for ${results.length} components of branch ${branch}`,
    after: {
      branch,
      environment: environment.name,
      results: countByPresence(results),
      passedOver: results.length - known.length,
      removed: removed.length,
      changes: countByStatus(steps.all),
    },
  });
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
  const plain = { movedTo: null, ownerProjectId: null, isReported: false, isNewDetection: false };
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

/** How many removed components one entry of the audit trail has. */
const REMOVED_PER_ENTRY = 100;

async function removeWithHistory(tx: Tx, { project, branch }: LedgerPlace, gone: readonly Checked[]): Promise<void> {
  for (let start = 0; start < gone.length; start += REMOVED_PER_ENTRY) {
    const part = gone.slice(start, start + REMOVED_PER_ENTRY);
    const components = await removeEntries(
      tx,
      part.map(({ id }) => id),
    );
    tx.audit({
      source: 'crm',
      action: 'gc.removed',
      entityType: 'gc_ledger',
      entityId: branch,
      repositoryIdentifier: project.identifier,
      summary: `${components.length} components of branch ${branch} are gone from all orgs and were removed from the ledger`,
      before: { branch, components },
    });
  }
}
