import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { SweepPlan } from '../../workflows/system/sweeper.contract.ts';
import {
  configureSweeper,
  endWorkflowsOfOldIds,
  ensureSweeper,
  removeOldSchedules,
} from '../../workflows/temporal-sweeper.ts';
import { SWEEPS } from './sweeps.ts';

const CHECK_EVERY_MS = 60_000;

/** Has the sweeper run the sweeps of this version, once at once, and starts it again when it is gone; `stop` ends that. */
export async function startSweeper(client: Client, queuePrefix: string, log: Logger): Promise<{ stop: () => void }> {
  const plan: SweepPlan[] = SWEEPS.map(({ name, everyMs }) => ({ name, everyMs }));
  await removeOldSchedules(client, queuePrefix);
  const ended = await endWorkflowsOfOldIds(client, queuePrefix);
  if (ended > 0)
    log.warn({ ended }, 'workflows with ids of an earlier version were ended; the sweeper carries them on');
  await configureSweeper(client, queuePrefix, plan);
  const timer = setInterval(() => {
    ensureSweeper(client, queuePrefix, plan).catch((error: unknown) =>
      log.warn({ err: error }, 'whether the sweeper runs is not known'),
    );
  }, CHECK_EVERY_MS);
  return { stop: () => clearInterval(timer) };
}
