import { policyOfPayload, termsOf } from '../../projects/policies/approval-policy.ts';
import { environmentById } from '../../projects/environments/environments.queries.ts';
import { DomainError, type ErrorCode } from '../../kernel/shared/errors.ts';
import type { Tx, UnitOfWork } from '../../unit-of-work.ts';
import { lockStatuses } from '../environment-locks/environment-locks.queries.ts';
import { wishOf } from '../org-deployments/deploy-order-rules.ts';
import { releaseOfRun } from '../org-releases/release-of-run.ts';
import { cannotDoByCandidates } from '../org-releases/rollback-limits.ts';
import { type RunContext, runById } from './flow-runs.queries.ts';
import { flowType } from './flow-types.ts';
import { acceptNewRun } from './new-runs.mutations.ts';
import type { Commands } from './programs/commands-file.ts';
import type { ExecutorName } from './programs/executor-rules.ts';
import { passageOf } from './promoted-runs.ts';
import { currentGates } from './run-begins.mutations.ts';

/** What a run would wait for, as everything is now. */
export interface DryRunGates {
  /** Null: it needs none. No approvers: the owners of the tenant. */
  approval: { approvers: string[]; minApprovals: number; expiresAt: Date } | null;
  /** Windows, freezes, and what must be deployed before; null: the run asks for none of it. */
  window: { isOpen: boolean; nextWindowAt: Date | null; reason: string | null } | null;
  /** Locks that it would take, with who has them. */
  locks: { environmentId: string; environmentName: string; heldBy: string | null; waiting: number }[];
}

/** What would become of a request for a run. */
export interface DryRun {
  /** It would be accepted; it may wait at its gates then. */
  wouldStart: boolean;
  refusal: { code: ErrorCode; detail: string } | null;
  executor: ExecutorName | null;
  /** Null: it would be refused, or its child runs pass gates of their own. */
  gates: DryRunGates | null;
  /** What a rollback by the service cannot take back, as far as its releases say it. */
  cannotDo: string[];
}

/** Ends a transaction of which nothing is kept. */
class RolledBack extends Error {
  readonly seen: DryRun;
  constructor(seen: DryRun) {
    super('a dry run keeps nothing');
    this.seen = seen;
  }
}

/** Mistakes of the request itself, which stay errors. */
const MISTAKES: ReadonlySet<ErrorCode> = new Set(['invalid_request', 'unauthenticated', 'forbidden']);

/**
 * What would become of a run, by the very rules of one: it is accepted in a transaction that is rolled back. Throws
 * `invalid_request` and `forbidden`; what else would refuse the run is the answer.
 */
export async function dryRun(
  unit: UnitOfWork,
  payload: Record<string, unknown>,
  options: { requestId: string; commands: Commands },
): Promise<DryRun> {
  try {
    return await unit(async (tx) => {
      const { runId } = await acceptNewRun(tx, payload, options);
      throw new RolledBack(await rehearsed(tx, runId, options.commands));
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.seen;
    if (!(error instanceof DomainError) || MISTAKES.has(error.code) || error.code === 'unavailable') throw error;
    const { code, message: detail } = error;
    return { wouldStart: false, refusal: { code, detail }, executor: null, gates: null, cannotDo: [] };
  }
}

async function rehearsed(tx: Tx, runId: string, commands: Commands): Promise<DryRun> {
  const run = await runById(tx, runId);
  const current = await currentGates(tx, run, commands);
  if (!current) throw new Error('a run that nothing executes was accepted');
  const { executor, gates, hasWindows } = current;
  const cannotDo = await whatStays(tx, run, executor);
  if (executor === 'children') return { wouldStart: true, refusal: null, executor, gates: null, cannotDo };
  const terms = termsOf({ policies: gates.policies, run: policyOfPayload(run.payload), now: tx.now });
  const passage = hasWindows ? await passageOf(tx, run, gates.environmentIds) : undefined;
  if (passage?.refusal) {
    const { error: detail = 'It may not go now' } = passage.refusal;
    return { wouldStart: false, refusal: { code: 'invalid_transition', detail }, executor, gates: null, cannotDo };
  }
  const waiting = passage?.waiting;
  const nextWindowAt = waiting && waiting.nextAt !== null ? new Date(waiting.nextAt) : null;
  return {
    wouldStart: true,
    refusal: null,
    executor,
    cannotDo,
    gates: {
      approval: terms
        ? { approvers: terms.approvers, minApprovals: terms.minApprovals, expiresAt: terms.expiresAt }
        : null,
      window: passage ? { isOpen: waiting === undefined, nextWindowAt, reason: waiting?.reason ?? null } : null,
      locks: await locksOf(tx, gates.lockIds),
    },
  };
}

async function whatStays(tx: Tx, run: RunContext, executor: ExecutorName): Promise<string[]> {
  if (executor !== 'activity' || !flowType(run.taskType)?.isRollback) return [];
  const release = await releaseOfRun(tx, run);
  if (typeof release === 'string') return [];
  const { takenBack = {}, packages } = release;
  return cannotDoByCandidates(takenBack, packages.artifacts, wishOf(run.payload));
}

async function locksOf(tx: Tx, environmentIds: readonly string[]): Promise<DryRunGates['locks']> {
  const statusOf = await lockStatuses(tx, environmentIds);
  const locks: DryRunGates['locks'] = [];
  for (const environmentId of environmentIds) {
    const { heldBy, waiting } = statusOf(environmentId);
    const { environment } = await environmentById(tx, environmentId);
    locks.push({ environmentId, environmentName: environment.name, heldBy, waiting });
  }
  return locks;
}
