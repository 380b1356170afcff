import { environmentById } from '../../projects/environments/environments.queries.ts';
import { expiresAfterOf, policyOfPayload, termsOf } from '../../projects/policies/approval-policy.ts';
import type { HoldMember } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { placeToCome } from '../environment-locks/environment-locks.queries.ts';
import { promotionGates } from '../promotion/promotable-rules.ts';
import { promotionState, windowDemands } from '../promotion/promotion.ts';
import { holdMember } from '../release-candidates/holds/hold-rules.ts';
import type { RunPayload } from './flow-payloads.ts';
import type { FlowType } from './flow-types.ts';
import type { RunGates } from './gates/gate-rules.ts';
import { isPromotion } from './programs/executor-rules.ts';

interface LockToCome {
  environmentId: string;
  environmentName: string;
  heldBy: string | null;
  /** In the queue: 0 has the lock at once. */
  position: number;
  /** Null: no hold of the lock has ended yet. */
  estimatedWaitSeconds: number | null;
}

/** What a run would wait for, as everything is now. */
export interface DryRunGates {
  /** Null: it needs none. No approvers: the owners of the tenant. */
  approval: { approvers: string[]; minApprovals: number; expiresAfter: string; expiresAt: Date } | null;
  /** Null: its release must be deployed nowhere before, or an override passes that. */
  after: { missing: string[]; reason: string | null } | null;
  /** Null: its release needs no time elsewhere, or an override passes that. */
  soak: { endsAt: Date | null } | null;
  /** Windows and freezes; null: the run obeys none, or an override passes them. */
  window: { isOpen: boolean; nextWindowAt: Date | null; reason: string | null } | null;
  /** The lock for which it would wait the longest; null: it takes none. */
  lock: LockToCome | null;
  /** All locks that it would take, in this order. */
  locks: LockToCome[];
}

/** A run as far as its gates depend on it. */
export interface ToPass {
  type: FlowType;
  payload: RunPayload;
  projectId: string | null;
  domain: string | null;
  /** Null: of a rollback that goes to nothing. */
  releaseName: string | null;
  override: unknown;
  gates: RunGates;
  hasWindows: boolean;
}

const dateOf = (moment: number | null): Date | null => (moment === null ? null : new Date(moment));

/**
 * The gates of a run, each as it is now, by the rules that it will be asked by.
 * @param environmentIds to which it takes its release, itself or by its children.
 */
export async function gatesToPass(
  tx: Tx,
  run: ToPass,
  environmentIds: readonly string[],
): Promise<{ gates: DryRunGates; hold: HoldMember | null }> {
  const { gates, payload, override } = run;
  const given = { policies: gates.policies, run: policyOfPayload(payload), now: tx.now };
  const terms = termsOf(given);
  const locks = await locksToCome(tx, gates.lockIds);
  const { demands, hold } = await demandsOn(tx, run, environmentIds);
  const promotion = demands && override === null ? promotionGates(demands, tx.now.getTime()) : undefined;
  const { after = null, soak = null, window } = promotion ?? {};
  return {
    hold,
    gates: {
      approval: terms
        ? {
            approvers: terms.approvers,
            minApprovals: terms.minApprovals,
            expiresAfter: expiresAfterOf(given),
            expiresAt: terms.expiresAt,
          }
        : null,
      after,
      soak: soak && { endsAt: dateOf(soak.endsAt) },
      window: window ? { ...window, nextWindowAt: dateOf(window.nextWindowAt) } : null,
      lock: locks.toSorted((a, b) => waitOf(b) - waitOf(a) || b.position - a.position)[0] ?? null,
      locks,
    },
  };
}

/** What holds the release of a run back, whatever else would become of the run; null: nothing. */
export const holdToPass = async (
  tx: Tx,
  run: Omit<ToPass, 'hasWindows'>,
  environmentIds: readonly string[],
): Promise<HoldMember | null> => (await demandsOn(tx, { ...run, hasWindows: false }, environmentIds)).hold;

const waitOf = ({ position, estimatedWaitSeconds }: LockToCome): number =>
  position === 0 ? 0 : (estimatedWaitSeconds ?? Infinity);

/** What the environments of a run demand of it; undefined: it obeys no windows. */
async function demandsOn(
  tx: Tx,
  { type, projectId, domain, releaseName, hasWindows }: ToPass,
  environmentIds: readonly string[],
) {
  if (!isPromotion(type) || projectId === null || domain === null || releaseName === null) {
    const demands = hasWindows && !isPromotion(type) ? await windowDemands(tx, environmentIds) : undefined;
    return { demands, hold: null };
  }
  const promotion = {
    projectId,
    domain,
    releaseName,
    environmentIds,
    approvedDigest: null,
    isRollback: type.isRollback,
  };
  const { obstacle, demands, hold } = await promotionState(tx, promotion, tx.now);
  return { demands: hasWindows && !obstacle ? demands : undefined, hold: hold ? holdMember(hold) : null };
}

async function locksToCome(tx: Tx, environmentIds: readonly string[]): Promise<LockToCome[]> {
  const locks: LockToCome[] = [];
  for (const environmentId of environmentIds) {
    const { environment } = await environmentById(tx, environmentId);
    locks.push({ environmentId, environmentName: environment.name, ...(await placeToCome(tx, environmentId)) });
  }
  return locks;
}
