import type { WantedExecutor } from '../../../projects/policies/executor-policy-rules.ts';
import type { FlowTarget, RunGates } from '../gates/gate-rules.ts';

/** What executes a run: a program of the operator's list, a pipeline of the git host, the service, or child runs. */
export type ExecutorName = 'command' | 'cicd' | 'activity' | 'children';

export interface FlowTraits {
  /** What a run waits for before it is executed, always. */
  gates: { approval: boolean; lock: boolean };
  target: FlowTarget;
  /** How the service itself executes the type; undefined: it does not. */
  own: 'activity' | 'children' | undefined;
  /** Its runs deploy a release to their environment. */
  isDeployment: boolean;
  /** They change what an org runs, by a release or otherwise; what changes only what people may do there does not. */
  changesOrg: boolean;
  /** They deploy the release that was there before, instead of one that the payload names. */
  isRollback: boolean;
  /** The type whose command executes them where they have none of their own. */
  commandOf: string | undefined;
  /** A part of another run, which nobody starts by itself. */
  isInternal: boolean;
}

interface Means {
  hasPipeline: boolean;
  hasCommand: boolean;
  /** Absent: `auto`. */
  wanted?: WantedExecutor | undefined;
}

/**
 * A pipeline that the caller names goes before the operator's command, and that before what the service does itself, unless
 * the payload asks for one of them; undefined: nothing executes it.
 */
export function executorOf(
  { own }: Pick<FlowTraits, 'own'>,
  { hasPipeline, hasCommand, wanted = 'auto' }: Means,
): ExecutorName | undefined {
  const takes = (executor: WantedExecutor) => wanted === 'auto' || wanted === executor;
  if (hasPipeline && takes('pipeline')) return 'cicd';
  if (hasCommand && takes('command')) return 'command';
  return takes('service') ? own : undefined;
}

/** Whether runs of a type take a release candidate to environments, themselves or by their children. */
export const isPromotion = ({ isDeployment, own }: Pick<FlowTraits, 'isDeployment' | 'own'>): boolean =>
  isDeployment || own === 'children';

/** Whether runs of a type begin only within the windows of their environments, and outside freezes. */
export const obeysWindows = (type: Pick<FlowTraits, 'isDeployment' | 'own' | 'changesOrg'>): boolean =>
  type.changesOrg || isPromotion(type);

/** Why a type cannot be executed here, by what a payload asks for, and what would change that. */
export function whyUnavailable(id: string, wanted: WantedExecutor = 'auto'): string {
  const byCommand = `have the operator add ${id} to the list of commands (COMMANDS_FILE)`;
  switch (wanted) {
    case 'auto':
      return `Nothing here executes ${id}: name a \`pipeline\` of the git host in the payload, or ${byCommand}`;
    case 'service':
      return `The service itself does not execute ${id}: leave \`executor\` out, or name another`;
    case 'command':
      return `No command executes ${id}: ${byCommand}, or leave \`executor\` out`;
    case 'pipeline':
      return `No pipeline executes ${id}: name a \`pipeline\` of the git host in the payload, or leave \`executor\` out`;
  }
}

export interface LockRequest {
  environmentId: string;
  leaseMinutes: number;
}

/** How a run is executed. */
export interface RunPlan {
  gates: {
    approval: boolean;
    /** It begins only when its environments take releases: their windows, freezes, and what comes before them. */
    window: boolean;
    /** Taken in this order. */
    locks: LockRequest[];
    /** The first of them, for workers of a version that knows of one. */
    lock: LockRequest | null;
  };
  executor: ExecutorName;
  /** No gate stands before it. */
  isUngated: boolean;
  /** Time that a pipeline has. */
  timeoutSeconds: number;
}

const LEASE_MINUTES = 30;
const PIPELINE_MINUTES = 60;

interface PlannedPayload {
  approvalPolicy?: unknown;
  pipeline?: { timeoutMinutes?: number | undefined } | undefined;
}

/** Whether a run may wait for an approval: the policies of its targets ask for one, or it brings one itself. */
const mayNeedApproval = ({ policies }: RunGates, { approvalPolicy }: PlannedPayload): boolean =>
  policies.some(({ policy }) => policy?.skipApproval !== true) || (policies.length > 0 && approvalPolicy !== undefined);

/**
 * Whether a run is sure to wait for nothing but its own work, however it will be executed. What the service does in orgs may
 * take days, or last for them.
 */
export const waitsForNobody = (
  { own, target }: Pick<FlowTraits, 'own' | 'target'>,
  gates: RunGates,
  payload: PlannedPayload & { environmentName?: unknown },
): boolean =>
  own !== 'children' &&
  (own !== 'activity' || target === 'none') &&
  payload.environmentName === undefined &&
  payload.pipeline === undefined &&
  gates.lockIds.length === 0 &&
  !mayNeedApproval(gates, payload);

/** The locks of a plan, which may have been made by a version that knew of one. */
export const locksOf = ({
  gates: { locks, lock },
}: {
  gates: { locks?: LockRequest[]; lock: LockRequest | null };
}): LockRequest[] => locks ?? (lock ? [lock] : []);

/** What is left of a plan of which the work has begun, or was about to: the gates are behind it, its locks are held on. */
export const planUnderWay = (plan: RunPlan): RunPlan => ({
  ...plan,
  gates: { ...plan.gates, approval: false, window: false },
  isUngated: true,
});

/** The plan of a run that `executor` executes. @param hasWindows it begins only when its environments allow it. */
export function planRun(
  executor: ExecutorName,
  gates: RunGates,
  payload: PlannedPayload,
  { hasWindows }: { hasWindows: boolean },
): RunPlan {
  const approval = mayNeedApproval(gates, payload);
  const locks = gates.lockIds.map((environmentId) => ({ environmentId, leaseMinutes: LEASE_MINUTES }));
  const timeoutSeconds = (payload.pipeline?.timeoutMinutes ?? PIPELINE_MINUTES) * 60;
  const isUngated = !approval && !hasWindows && locks.length === 0;
  return {
    gates: { approval, window: hasWindows, locks, lock: locks[0] ?? null },
    executor,
    isUngated,
    timeoutSeconds,
  };
}
