import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import { announceComponents, type LedgerBranch } from './gc-announcements.ts';
import {
  type ChangedEntry,
  changeEntries,
  insertEntries,
  type NewEntry,
  recordSteps,
  type Step,
  touchEntries,
} from './gc-entries.queries.ts';
import {
  afterEvent,
  type ComponentName,
  derived,
  foldComponents,
  isSameState,
  voidsEvidence,
} from './gc-ledger-rules.ts';
import type { GcEventType, GcStatus } from './gc-ledger-rules.ts';
import { type Reported, type Reviewed, lockGcBranch, reviewEntries, stateOf } from './gc-review.queries.ts';

export type GcEventIn = ComponentName & { type: GcEventType };

/** What a request did to the ledger of a branch. */
export interface Recorded {
  /** Packages whose manifest cannot be read: their entries were not derived. The first ones by name. */
  unreadable: string[];
}

const UNREADABLE_SHOWN = 100;

/**
 * Takes events of a branch in, and derives its open entries from the manifests of its packages. A repeated component
 * counts once, by its last event.
 */
export async function recordGcEvents(tx: Tx, ledger: LedgerBranch, events: readonly GcEventIn[]): Promise<Recorded> {
  const at = { projectId: ledger.project.id, branch: ledger.branch };
  await lockGcBranch(tx, at);
  const reported = foldComponents(events).map(({ type, ...component }): Reported => ({ ...component, event: type }));
  const { reviewed, unreadable } = await reviewEntries(tx, at, reported);
  const changes = changesOf(tx, reviewed);
  await insertEntries(tx, at, changes.added);
  await changeEntries(tx, changes.changed);
  await touchEntries(tx, changes.touched);
  await recordSteps(tx, at, changes.steps);
  announceComponents(tx, ledger, 'detected', changes.detected);
  if (events.length > 0 || changes.steps.length > 0) {
    tx.audit({
      source: 'crm',
      action: 'gc.events_recorded',
      entityType: 'gc_ledger',
      entityId: ledger.branch,
      repositoryIdentifier: ledger.project.identifier,
      summary: `${events.length} events of dropped components on branch ${ledger.branch}, ${changes.steps.length} changes`,
      after: {
        branch: ledger.branch,
        events: events.length,
        components: reported.length,
        changes: countByStatus(changes.steps),
        ...(unreadable.length > 0 && { unreadableManifests: unreadable.slice(0, UNREADABLE_SHOWN) }),
      },
    });
  }
  return { unreadable: unreadable.slice(0, UNREADABLE_SHOWN) };
}

/** How many entries came to each status. */
export const countByStatus = (steps: readonly { toStatus: GcStatus }[]): Partial<Record<GcStatus, number>> => {
  const counts: Partial<Record<GcStatus, number>> = {};
  for (const { toStatus } of steps) counts[toStatus] = (counts[toStatus] ?? 0) + 1;
  return counts;
};

/** What becomes of reviewed components: by their event, and then by the manifests. */
function changesOf({ now }: Tx, reviewed: readonly Reviewed[]) {
  const added: NewEntry[] = [];
  const changed: ChangedEntry[] = [];
  const touched: string[] = [];
  const steps: Step[] = [];
  const detected: ComponentName[] = [];
  for (const component of reviewed) {
    const { event, packageName, componentType, fullName } = component;
    const before = stateOf(component);
    const reported = event === null ? before : afterEvent(before, event);
    if (!reported) continue;
    const after = derived(reported, component);
    const isReported = event !== null;
    if (before && component.id !== null && isSameState(before, after)) {
      if (isReported) touched.push(component.id);
      continue;
    }
    const id = component.id ?? newId();
    const isNewDetection = after.status === 'detected' && before?.status !== 'detected';
    if (isNewDetection) detected.push({ packageName, componentType, fullName });
    if (component.id === null)
      added.push({ id, packageName, componentType, fullName, ...after, detectedAt: isNewDetection ? now : null });
    else
      changed.push({
        id,
        ...after,
        isReported,
        isNewDetection,
        isEvidenceVoid: voidsEvidence(before?.status, after.status),
      });
    const cause = isSameState(reported, after) ? 'event' : 'manifest';
    steps.push({
      entryId: id,
      fromStatus: before?.status ?? null,
      toStatus: after.status,
      cause,
      movedTo: after.movedTo,
    });
  }
  return { added, changed, touched, steps, detected };
}
