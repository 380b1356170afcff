import { settingsDigest } from '../../../domain/delivery/org-deployments/settings-digest.ts';
import type { StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import type { SourceBuild } from '../../../domain/delivery/source/source-build.port.ts';
import type { Pending } from '../flows/operations.activities.ts';
import { buildSource } from '../source/build-source.ts';
import { type OrgWork, move } from '../org-steps/org-work.ts';
import type { BuildIntent } from './plan-deployment.ts';

/** What the row of a step keeps of what was built. */
export interface Built {
  object: string | null;
  bytes: number;
  form: SourceBuild['form'];
  reason: string;
  components: number;
  deletions: number;
  pending: SourceBuild['pendingDeletions'];
  undeletable: SourceBuild['undeletable'];
  comparedWith: SourceBuild['comparedWith'];
  warnings: string[];
}

/** Names of what is left undeleted are kept, with a bound that no repository comes near to. */
const PENDING_MAX = 10_000;
const WARNINGS_MAX = 100;

/** Builds what is deployed; the same step always builds the same. */
export async function buildStep(work: OrgWork, step: StepRow, signal: AbortSignal): Promise<Pending> {
  const answer = await built(work, step, signal);
  if (!answer.isOk) {
    await move(work, step, { state: 'failed', error: answer.reason });
    return { againInSeconds: 0, text: 'The source could not be built' };
  }
  const { components, deletions, pendingDeletions, undeletable, warnings, ...build } = answer.value;
  const result: Built = {
    ...build,
    components: components.length,
    deletions: deletions.length,
    pending: pendingDeletions.slice(0, PENDING_MAX),
    undeletable: undeletable.slice(0, PENDING_MAX),
    warnings: warnings.slice(0, WARNINGS_MAX),
  };
  await move(work, step, { state: 'succeeded', detail: build.reason, result: { ...result } });
  return { againInSeconds: 0, text: build.reason };
}

/** Builds it again where its archive is gone: whoever deployed the same before has removed it. */
export async function assertArchive(work: OrgWork, step: StepRow, signal: AbortSignal): Promise<string | null> {
  const { object } = step.result as unknown as Built;
  if (object !== null && (await work.deps.objects.sizeOf(object)) !== undefined) return null;
  if (step.intent.commitSha === undefined) return 'What was retrieved is gone: start the run again';
  const answer = await built(work, step, signal);
  return answer.isOk ? null : answer.reason;
}

const built = ({ deps, tenant, run }: OrgWork, { intent }: StepRow, signal: AbortSignal) => {
  const {
    validationId: _,
    basePackages: __,
    artifacts: ___,
    basePending: ____,
    baseSettings,
    ...order
  } = intent as unknown as BuildIntent;
  const hasOtherSettings = order.baseSha !== null && baseSettings !== settingsDigest(order);
  return buildSource(deps, { ...tenant, projectId: run.projectId ?? '', ...order, hasOtherSettings }, signal);
};
