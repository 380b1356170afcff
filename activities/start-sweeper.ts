import type { Client } from '@temporalio/client';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import type { Logger } from 'pino';
import { ensureNightlyAnalysis } from '../workflows/temporal-schedules.ts';
import type { SweepPlan } from '../workflows/kernel/system/sweeper.contract.ts';
import { currentSince } from '../workflows/temporal-deployments.ts';
import { configureSweeper, isSweeperRunning } from '../workflows/temporal-sweeper.ts';
import type { ReportAway } from '../domain/kernel/system/outages.ts';
import { SWEEPS } from './sweeps.ts';

const CHECK_EVERY_MS = 60_000;
/** Whether the engine answers: when it is back, all sweeps have a pass at once. */
const WATCH_EVERY_MS = 2_000;
/** Soon after a build became current, its sweeps run. */
const CHECK_BUILD_EVERY_MS = 5_000;

/**
 * Has the sweeper run the sweeps of this version, once at once and whenever the engine was away, and starts it again when
 * it is gone; `stop` ends that.
 * A worker of a build waits with both until its build is current.
 * @param options.onAway is told each time that the engine is found away.
 * @param options.pace multiplies the pauses between sweeps and between checks; 1 but for tests.
 */
export async function startSweeper(
  client: Client,
  queuePrefix: string,
  log: Logger,
  { pace, build, onAway }: { pace: number; build: WorkerDeploymentVersion | undefined; onAway: ReportAway },
): Promise<{ stop: () => void }> {
  const plan: SweepPlan[] = SWEEPS.map(({ name, everyMs, isChore }) => ({ name, everyMs: everyMs * pace, isChore }));
  let configuredSince: string | undefined;
  const readSince = async () => (build ? currentSince(client, build) : 'start');
  const check = async () => {
    const since = await readSince();
    if (since === undefined) return;
    if (since === configuredSince && (await isSweeperRunning(client, queuePrefix))) return;
    await configure(client, queuePrefix, plan);
    configuredSince = since;
  };
  await check();
  let isChecking = false;
  const timer = setInterval(
    () => {
      if (isChecking) return;
      isChecking = true;
      check()
        .catch((error: unknown) => log.warn({ err: error }, 'whether the sweeper runs is not known'))
        .finally(() => (isChecking = false));
    },
    (build ? CHECK_BUILD_EVERY_MS : CHECK_EVERY_MS) * pace,
  );
  const watch = watchEngine(client, onAway, async () => {
    const isConfigured = configuredSince !== undefined && (await readSince()) === configuredSince;
    // It may have come back with another store.
    if (isConfigured) await configure(client, queuePrefix, plan);
  });
  return {
    stop() {
      clearInterval(timer);
      clearInterval(watch);
    },
  };
}

/** Calls `onReturn` each time that the engine answers after it did not. */
function watchEngine(client: Client, onAway: ReportAway, onReturn: () => Promise<void>): NodeJS.Timeout {
  let isAway = false;
  let isAsking = false;
  const ask = async () => {
    if (isAsking) return;
    isAsking = true;
    try {
      await client.withDeadline(Date.now() + WATCH_EVERY_MS, async () => {
        await client.workflowService.getSystemInfo({});
        if (isAway) await onReturn();
      });
      isAway = false;
    } catch (error) {
      isAway = true;
      onAway(error);
    } finally {
      isAsking = false;
    }
  };
  return setInterval(() => void ask(), WATCH_EVERY_MS);
}

async function configure(client: Client, queuePrefix: string, plan: SweepPlan[]): Promise<void> {
  await ensureNightlyAnalysis(client, queuePrefix);
  await configureSweeper(client, queuePrefix, plan);
}
