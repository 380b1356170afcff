import type { ProjectFacts } from '../../projects/projects/projects.queries.ts';
import { compareText } from '../../kernel/text/version-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import type { ComponentName, GcStatus } from './gc-ledger-rules.ts';

/** The most components that one event names. */
const NAMED_MAX = 100;

const EVENT_OF_STATUS = { detected: 'gc.detected', dismissed: 'gc.dismissed', reclaimed: 'gc.reclaimed' } as const;

/** A branch with its project. */
export interface LedgerBranch {
  project: ProjectFacts;
  branch: string;
}

/** Announces that components have a status now: one event per package. */
export function announceComponents(
  tx: Tx,
  { project, branch }: LedgerBranch,
  status: keyof typeof EVENT_OF_STATUS & GcStatus,
  components: readonly ComponentName[],
): void {
  const byPackage = Map.groupBy(components, ({ packageName }) => packageName);
  for (const [packageName, ofPackage] of [...byPackage].toSorted(([a], [b]) => compareText(a, b))) {
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
  compareText(a.componentType, b.componentType) || compareText(a.fullName, b.fullName);
