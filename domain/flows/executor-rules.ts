/** What carries a run out: a program of the operator's list, a pipeline of the git host, the service, or child runs. */
export type ExecutorName = 'command' | 'cicd' | 'activity' | 'children';

export interface FlowTraits {
  /** What a run waits for before it is carried out, when it names an environment. */
  gates: { approval: boolean; lock: boolean };
  /** How the service itself carries the type out; undefined: it does not. */
  own: 'activity' | 'children' | undefined;
  /** Its runs deploy a release to their environment. */
  isDeployment: boolean;
  /** A part of another run, which nobody starts by itself. */
  isInternal: boolean;
}

interface Means {
  hasPipeline: boolean;
  hasCommand: boolean;
}

/** A pipeline that the caller names goes before the operator's command, and that before what the service does itself. */
export function executorOf(
  { own }: Pick<FlowTraits, 'own'>,
  { hasPipeline, hasCommand }: Means,
): ExecutorName | undefined {
  if (hasPipeline) return 'cicd';
  if (hasCommand) return 'command';
  return own;
}

/** Why a type cannot be carried out here. */
export const whyUnavailable = (id: string): string =>
  `Nothing here carries out ${id}: the operator's list of commands does not name it, and the payload names no pipeline`;

/** How a run is carried out. */
export interface RunPlan {
  gates: { approval: boolean; lock: { environmentId: string; leaseMinutes: number } | null };
  executor: ExecutorName;
  /** No gate stands before it. */
  isUngated: boolean;
  /** Of a pipeline. */
  timeoutSeconds: number;
}

const LEASE_MINUTES = 30;
const PIPELINE_MINUTES = 60;

/** What of a run its plan depends on. */
interface RunToPlan {
  environmentId: string | null;
  approvalPolicy: object | null;
  payload: { approvalPolicy?: unknown; pipeline?: { timeoutMinutes?: number | undefined } | undefined };
}

/** Whether a run is sure to wait for nothing but its own work, however it will be carried out. */
export const waitsForNobody = (
  { own }: Pick<FlowTraits, 'own'>,
  {
    environmentName,
    approvalPolicy,
    pipeline,
  }: { environmentName?: unknown; approvalPolicy?: unknown; pipeline?: unknown },
): boolean =>
  own !== 'children' && environmentName === undefined && approvalPolicy === undefined && pipeline === undefined;

/** The plan of a run of a type that `executor` carries out. */
export function planRun(
  { gates }: Pick<FlowTraits, 'gates'>,
  executor: ExecutorName,
  { environmentId, approvalPolicy, payload }: RunToPlan,
): RunPlan {
  const approval = gates.approval && (approvalPolicy !== null || payload.approvalPolicy !== undefined);
  const lock = gates.lock && environmentId !== null ? { environmentId, leaseMinutes: LEASE_MINUTES } : null;
  const timeoutSeconds = (payload.pipeline?.timeoutMinutes ?? PIPELINE_MINUTES) * 60;
  return { gates: { approval, lock }, executor, isUngated: !approval && lock === null, timeoutSeconds };
}
