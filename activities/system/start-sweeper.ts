import type { Client } from '@temporalio/client';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import type { Logger } from 'pino';
import type { SweepPlan } from '../../workflows/system/sweeper.contract.ts';
import { currentSince } from '../../workflows/temporal-deployments.ts';
import {
  configureSweeper,
  endWorkflowsOfOldIds,
  ensureSweeper,
  removeOldSchedules,
} from '../../workflows/temporal-sweeper.ts';
import { SWEEPS } from './sweeps.ts';

const CHECK_EVERY_MS = 60_000;
/** Soon after a build became current, its sweeps run. */
const CHECK_BUILD_EVERY_MS = 5_000;

/**
 * Has the sweeper run the sweeps of this version, once at once, and starts it again when it is gone; `stop` ends that.
 * A worker of a build waits with both until its build is current.
 */
export async function startSweeper(
  client: Client,
  queuePrefix: string,
  log: Logger,
  build?: WorkerDeploymentVersion,
): Promise<{ stop: () => void }> {
  const plan: SweepPlan[] = SWEEPS.map(({ name, everyMs }) => ({ name, everyMs }));
  let configuredSince: string | undefined;
  const check = async () => {
    const since = build ? await currentSince(client, build) : 'start';
    if (since === undefined) return;
    if (since === configuredSince) return ensureSweeper(client, queuePrefix, plan);
    await configure(client, queuePrefix, plan, log);
    configuredSince = since;
  };
  await check();
  const timer = setInterval(
    () => {
      check().catch((error: unknown) => log.warn({ err: error }, 'whether the sweeper runs is not known'));
    },
    build ? CHECK_BUILD_EVERY_MS : CHECK_EVERY_MS,
  );
  return { stop: () => clearInterval(timer) };
}

async function configure(client: Client, queuePrefix: string, plan: SweepPlan[], log: Logger): Promise<void> {
  await removeOldSchedules(client, queuePrefix);
  const ended = await endWorkflowsOfOldIds(client, queuePrefix);
  if (ended > 0)
    log.warn({ ended }, 'workflows with ids of an earlier version were ended; the sweeper carries them on');
  await configureSweeper(client, queuePrefix, plan);
}
