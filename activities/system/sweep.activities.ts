import type { Deps } from '../deps.ts';
import { sweepExports } from '../audit/audit-exports.activities.ts';
import { announceExpiringTokens } from '../application-tokens/expiring-tokens.sweep.ts';
import { sweepApprovals } from '../approvals/approvals.sweep.ts';
import { sweepEnvironmentLocks } from '../environment-locks/environment-locks.sweep.ts';
import { sweepBuildImpacts } from '../builds/build-impacts.sweep.ts';
import { sweepChecks } from '../flows/checks.activities.ts';
import { settleCounts, sweepRuns } from '../flows/flow-runs.sweep.ts';
import { sweepSchedules } from '../flows/schedules.activities.ts';
import { sweepMirrors } from '../git/mirrors.sweep.ts';
import { sweepReleaseEvents } from '../release-candidates/release-events.sweep.ts';
import { sweepDisabled, sweepLanes } from '../webhooks/webhooks.activities.ts';

/** Asks again for one kind of accepted work that stayed undone; answers how many it asked for. */
export interface Sweep {
  name: string;
  run: (deps: Deps) => Promise<number>;
  /** There is always something: nobody needs to know. */
  isRoutine?: true;
}

/** One entry per kind of work that a crash between commit and launch, or an absent engine, can leave behind. */
export const SWEEPS: readonly Sweep[] = [
  { name: 'release events', run: (deps) => sweepReleaseEvents(deps) },
  { name: 'audit exports', run: sweepExports },
  { name: 'approvals', run: (deps) => sweepApprovals(deps) },
  { name: 'environment locks', run: (deps) => sweepEnvironmentLocks(deps) },
  { name: 'flow runs', run: (deps) => sweepRuns(deps) },
  { name: 'counts of runs', run: settleCounts, isRoutine: true },
  { name: 'flow schedules', run: (deps) => sweepSchedules(deps) },
  { name: 'checks of runs', run: sweepChecks },
  { name: 'git mirrors', run: sweepMirrors },
  { name: 'impacts of builds', run: sweepBuildImpacts },
  { name: 'expiring application tokens', run: announceExpiringTokens, isRoutine: true },
  { name: 'webhook lanes', run: sweepLanes },
  { name: 'webhooks to disable', run: sweepDisabled },
];

/** Runs every sweep; one that fails is logged and does not keep the others from their turn. */
export async function sweepAll(deps: Deps): Promise<void> {
  for (const { name, run, isRoutine } of SWEEPS) {
    try {
      const found = await run(deps);
      if (found > 0 && !isRoutine)
        deps.log.warn({ sweep: name, found }, 'accepted work was found undone and asked for again');
    } catch (error) {
      deps.log.error({ sweep: name, err: error }, 'sweep failed');
    }
  }
}
