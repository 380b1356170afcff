import type { ProjectFacts } from '../projects/projects.queries.ts';
import type { Tx } from '../unit-of-work.ts';
import { emitEvent } from '../webhooks/event-catalog.ts';
import type { ComponentName, GcStatus } from './gc-ledger-rules.ts';

/** The most components that one event names. */
const NAMED_MAX = 100;

const EVENT_OF_STATUS = { detected: 'gc.detected', dismissed: 'gc.dismissed', reclaimed: 'gc.reclaimed' } as const;

/** A branch with its project. */
export interface LedgerPlace {
  project: ProjectFacts;
  branch: string;
}

/** Announces that components have a status now: one event per package. */
export function announceComponents(
  tx: Tx,
  { project, branch }: LedgerPlace,
  status: keyof typeof EVENT_OF_STATUS & GcStatus,
  components: readonly ComponentName[],
): void {
  const byPackage = Map.groupBy(components, ({ packageName }) => packageName);
  for (const [packageName, ofPackage] of [...byPackage].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const named = ofPackage.map(({ componentType, fullName }) => ({ componentType, fullName })).toSorted(byTypeAndName);
    emitEvent(tx, EVENT_OF_STATUS[status], {
      repositoryIdentifier: project.identifier,
      branch,
      packageName,
      status,
      count: named.length,
      components: named.slice(0, NAMED_MAX),
      changedBy: tx.actor.email,
    });
  }
}

type Named = Omit<ComponentName, 'packageName'>;

const byTypeAndName = (a: Named, b: Named): number =>
  compare(a.componentType, b.componentType) || compare(a.fullName, b.fullName);

const compare = (a: string, b: string): number => Number(a > b) - Number(a < b);
