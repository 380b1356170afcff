import type { Commands } from '../../delivery/flows/programs/commands-file.ts';
import { findRun } from '../../delivery/flows/flow-runs.queries.ts';
import { POOL_PREPARE } from '../../delivery/flows/flow-types.ts';
import { type AcceptedRun, acceptNewRun } from '../../delivery/flows/new-runs.mutations.ts';
import { isFinal, isSuccess } from '../../delivery/flows/run-status-rules.ts';
import { findPool, instanceCounts, lockPool, notePool, type PoolRow } from '../review-pools/review-pools.queries.ts';
import {
  endedInstances,
  hasPrepared,
  nextInstanceEnd,
  overdueInstances,
  refreshingInstances,
  unfinishedInstances,
} from '../review-pools/review-instances.queries.ts';
import { type InstanceCounts, isAssigned } from '../review-pools/instance-rules.ts';
import { wantedBuilder, whyNotBuilt } from '../review-pools/pool-builder.ts';
import { setInstanceState } from '../review-pools/review-instances.mutations.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { missingOrgs, prepareBackoffMs } from './pool-upkeep-rules.ts';
import { countWaiting } from './review-assignments.queries.ts';
import { endAssignmentOfInstance, serveLine } from './review-leases.mutations.ts';

/** A run whose end nobody reported is looked at again after this. */
const RUN_CHECKED_EVERY_MS = 60_000;

/** A pool as its workflow knows it. */
export interface PoolProgress {
  counts: InstanceCounts;
  waiting: number;
  isPreparing: boolean;
  prepareFailures: number;
  /** Milliseconds until something is due; null: nothing is. */
  dueInMs: number | null;
}

/**
 * Retires orgs that have ended, serves those who wait, announces that the pool is low, and accepts a run that makes or
 * refreshes orgs, which the caller launches. Undefined when the pool was removed. Retrying is safe.
 */
export async function reevaluatePool(
  tx: Tx,
  poolId: string,
  commands: Commands,
): Promise<{ progress: PoolProgress; run?: AcceptedRun } | undefined> {
  await lockPool(tx, poolId);
  const pool = await findPool(tx, poolId);
  if (!pool) return undefined;
  await retireEnded(tx, pool);
  const settled = { ...pool, ...(await settleRun(tx, pool)) };
  await serveLine(tx, pool);
  const counts = (await instanceCounts(tx, [poolId]))(poolId);
  const waiting = await countWaiting(tx, poolId);
  await announceLow(tx, settled, counts, waiting, commands);
  const prepared = await prepare(tx, settled, counts, waiting, commands);
  await notePool(tx, poolId, { checkedAt: tx.now });
  const dues = [
    prepared.isPreparing ? RUN_CHECKED_EVERY_MS : null,
    prepared.dueAt && prepared.dueAt.getTime() - tx.now.getTime(),
    await endInMs(tx, poolId),
  ].filter((due) => due !== null);
  return {
    progress: {
      counts,
      waiting,
      isPreparing: prepared.isPreparing,
      prepareFailures: prepared.failures,
      dueInMs: dues.length === 0 ? null : Math.max(0, Math.min(...dues)),
    },
    ...(prepared.run && { run: prepared.run }),
  };
}

async function endInMs(tx: Tx, poolId: string): Promise<number | null> {
  const end = await nextInstanceEnd(tx, poolId);
  return end && end.getTime() - tx.now.getTime();
}

async function retireEnded(tx: Tx, pool: PoolRow): Promise<void> {
  for (const { id, state } of await endedInstances(tx, pool.id, tx.now)) {
    // Its assignment's lease ends with it; that moves the org, too.
    if (isAssigned(state)) await endAssignmentOfInstance(tx, id, 'expired', 'the org has ended');
    await setInstanceState(tx, pool.id, id, { state: 'expired', reason: 'the org has ended' });
  }
  for (const { id } of await overdueInstances(tx, pool.id, tx.now))
    await setInstanceState(tx, pool.id, id, { state: 'failed', reason: 'the org did not become available in time' });
}

async function announceLow(
  tx: Tx,
  pool: PoolRow,
  { available }: InstanceCounts,
  waiting: number,
  commands: Commands,
): Promise<void> {
  const { id: poolId, tag: poolTag, repositoryIdentifier, minAvailable, prepareFailures, lowAnnouncedAt } = pool;
  const isLow = pool.isActive && (available < minAvailable || waiting > 0);
  if (isLow === (lowAnnouncedAt !== null)) return;
  await notePool(tx, poolId, { lowAnnouncedAt: isLow ? tx.now : null });
  if (!isLow) return;
  const reason = whyNotBuilt(pool, commands) ?? pool.prepareError;
  const low = { poolId, poolTag, repositoryIdentifier, available, minAvailable, waiting, prepareFailures, reason };
  emitEvent(tx, 'review_pool.low', low);
}

interface Upkeep {
  prepareRunId: string | null;
  prepareFailures: number;
  prepareError: string | null;
  prepareDueAt: string | null;
}

/** What the end of a run makes of the next: one that failed, or brought no org forth, puts it off. */
async function settleRun(tx: Tx, { id, ...pool }: PoolRow): Promise<Upkeep> {
  const { prepareRunId, prepareFailures, prepareError, prepareDueAt } = pool;
  const run = prepareRunId === null ? undefined : await findRun(tx, prepareRunId);
  if (prepareRunId === null || (run && !isFinal(run.status)))
    return { prepareRunId, prepareFailures, prepareError, prepareDueAt };
  const hasSucceeded = run !== undefined && isSuccess(run.status);
  // After a success they may become available later, as when the org is made in the background.
  if (!hasSucceeded)
    for (const unfinished of await unfinishedInstances(tx, id, prepareRunId))
      await setInstanceState(tx, id, unfinished.id, {
        state: 'failed',
        reason: 'the run that made the org has failed',
      });
  const isOk = hasSucceeded && (await hasPrepared(tx, id, prepareRunId));
  const error = hasSucceeded ? 'The run succeeded, and registered no org' : (run?.error ?? 'The run has failed');
  return notePrepared(tx, id, isOk ? {} : { failures: prepareFailures + 1, error });
}

/** @param error why the last of the `failures` in a row failed. */
async function notePrepared(
  tx: Tx,
  poolId: string,
  { failures = 0, error = null }: { failures?: number; error?: string | null },
): Promise<Upkeep> {
  const dueAt = failures === 0 ? null : new Date(tx.now.getTime() + prepareBackoffMs(failures));
  const noted = { prepareRunId: null, prepareFailures: failures, prepareError: error };
  await notePool(tx, poolId, { ...noted, prepareDueAt: dueAt });
  return { ...noted, prepareDueAt: dueAt?.toISOString() ?? null };
}

interface Prepared {
  run?: AcceptedRun;
  isPreparing: boolean;
  failures: number;
  /** When the next run may begin; null: none is needed, or one is under way. */
  dueAt: Date | null;
}

/** Accepts a run where the pool lacks orgs, none is under way and the last failure is long enough ago. */
async function prepare(
  tx: Tx,
  pool: PoolRow,
  counts: InstanceCounts,
  waiting: number,
  commands: Commands,
): Promise<Prepared> {
  const { id: poolId, repositoryIdentifier, tag: poolTag, definition } = pool;
  const failures = pool.prepareFailures;
  if (pool.prepareRunId !== null) return { isPreparing: true, failures, dueAt: null };
  const count = missingOrgs(counts, pool, waiting);
  if (!pool.isActive || (count === 0 && counts.refreshing === 0)) return { isPreparing: false, failures, dueAt: null };
  const dueAt = pool.prepareDueAt === null ? null : new Date(pool.prepareDueAt);
  if (dueAt && dueAt > tx.now) return { isPreparing: false, failures, dueAt };
  const refresh = (await refreshingInstances(tx, poolId)).map(({ username }) => username);
  const { pipeline } = definition;
  const executor = wantedBuilder(definition);
  const asked = { id: POOL_PREPARE, repositoryIdentifier, poolTag, poolId, count, refresh, definition };
  const payload = { ...asked, ...(executor !== undefined && { executor }) };
  try {
    const run = await acceptNewRun(tx, { ...payload, ...(pipeline !== undefined && { pipeline }) }, { commands });
    await notePool(tx, poolId, { prepareRunId: run.runId, prepareStartedAt: tx.now, prepareDueAt: null });
    return { run, isPreparing: true, failures, dueAt: null };
  } catch (error) {
    // Nothing here executes such runs; that may change.
    if (!(error instanceof DomainError)) throw error;
    const { prepareFailures, prepareDueAt } = await notePrepared(tx, poolId, {
      failures: failures + 1,
      error: error.message,
    });
    return {
      isPreparing: false,
      failures: prepareFailures,
      dueAt: prepareDueAt === null ? null : new Date(prepareDueAt),
    };
  }
}
