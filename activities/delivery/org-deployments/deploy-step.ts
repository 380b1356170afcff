import {
  componentProblem,
  type DeploymentProblem,
  pollSeconds,
  problemText,
  progressOf,
  stageOf,
  verdictOf,
} from '../../../domain/delivery/org-deployments/deployment-outcome-rules.ts';
import { settingsDigest } from '../../../domain/delivery/org-deployments/settings-digest.ts';
import {
  claimSource,
  forgetSources,
  keepSource,
} from '../../../domain/delivery/org-deployments/org-sources.queries.ts';
import { isLockError } from '../../../domain/delivery/org-deployments/platform-advice-rules.ts';
import { moveStep, type StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import type { Deployment } from '../../../domain/orgs/crm/crm-deployments.port.ts';
import { type CrmAnswer, TOO_LARGE } from '../../../domain/orgs/crm/crm-platform.port.ts';
import type { Deps } from '../../deps.ts';
import type { Pending } from '../flows/operations.activities.ts';
import { keepLines } from '../org-steps/act-in-org.ts';
import { noteProgress } from '../org-steps/note-progress.ts';
import { beginOnce } from '../org-steps/begin-once.ts';
import { answered } from '../org-steps/org-call-failed.ts';
import { assertArchive, type Built } from './build-step.ts';
import { findDeployment } from './find-deployment.ts';
import { withCommits } from './failure-commits.ts';
import { type OrgWork, inUnit, move } from '../org-steps/org-work.ts';
import { type BuildIntent, type DeployIntent, LOOK_AT } from './plan-deployment.ts';

/** An org whose lock something else holds is asked so often, a minute apart. */
const LOCK_RETRIES = 5;
const LOCK_PAUSE_SECONDS = 60;
const SHOWN_MAX = 200;

/** What the row of a step keeps of how its deployment ended. */
export interface Deployed {
  lockRetries?: number;
  changes?: Record<string, number>;
  tests?: { run: number; failed: number };
  problems?: DeploymentProblem[];
  problemCount?: number;
  warnings?: string[];
  outputBytes?: number;
}

/** How long the adapter lets a zip be sent. */
const UPLOAD_MS = 300_000;

/** Begins the deployment of what was built, and follows it. */
export async function deployStep(work: OrgWork, build: StepRow, step: StepRow, signal: AbortSignal): Promise<Pending> {
  const { deps, tenant, org } = work;
  const begun = await beginOnce(deps, tenant, step, {
    create: () => begin(work, build, step, signal),
    find: findDeployment(work, build, step),
    lookAt: LOOK_AT,
    uploadMs: UPLOAD_MS,
  });
  const deploymentId = begun.externalId ?? '';
  const now = answered(await org.calls.deploymentStatus(deploymentId));
  if (!now.isDone) {
    const progress = progressOf(now);
    const text = stageOf(now);
    if (await noteProgress(work, begun, { text, progress, lookAt: LOOK_AT })) return { againInSeconds: 0, text };
    const ageMs = deps.now().getTime() - new Date(begun.askedAt ?? deps.now()).getTime();
    return { againInSeconds: pollSeconds(ageMs), text, atStep: `${begun.name}: ${text}`, progress };
  }
  return settle(work, build, begun, await endedDeployment(work, deploymentId), signal);
}

/** A deployment that is over, without its details where they are larger than any answer that is taken. */
export async function endedDeployment({ org }: OrgWork, deploymentId: string): Promise<Deployment> {
  const whole = await org.calls.deploymentStatus(deploymentId, { includeDetails: true });
  return answered(!whole.isOk && whole.code === TOO_LARGE ? await org.calls.deploymentStatus(deploymentId) : whole);
}

async function begin(work: OrgWork, build: StepRow, step: StepRow, signal: AbortSignal): Promise<CrmAnswer<string>> {
  const { deps, org } = work;
  const intent = step.intent as DeployIntent;
  const { validationId, checkOnly = false, testLevel = 'default', tests = [], ignoreWarnings = true } = intent;
  const { object, bytes } = build.result as unknown as Built;
  const why =
    (validationId === undefined ? await assertArchive(work, build, signal) : null) ??
    (checkOnly ? null : await claimOrg(work, build));
  if (why !== null) return { isOk: false, kind: 'refused', code: null, message: why, hint: '' };
  const made =
    validationId === undefined
      ? await org.calls.startDeployment({
          archive: { sizeBytes: bytes, content: () => contentOf(deps, object ?? '') },
          checkOnly,
          testLevel,
          tests,
          ignoreWarnings,
        })
      : await org.calls.quickDeploy(validationId);
  if (made.isOk) return { isOk: true, value: made.value.deploymentId };
  // It is asked again later, as where the calls of the day are used up.
  return isLockError(`${made.code} ${made.message}`) ? { ...made, kind: 'limited' } : made;
}

async function* contentOf({ objects }: Pick<Deps, 'objects'>, key: string): AsyncGenerator<Uint8Array> {
  const content = await objects.get(key);
  if (!content) throw new Error('the archive of the deployment is gone');
  yield* content;
}

/** Writes down how a deployment ended: its log, its row, and what the org runs now. */
export async function settle(
  work: OrgWork,
  build: StepRow,
  step: StepRow,
  ended: Deployment,
  signal: AbortSignal,
): Promise<Pending> {
  const { deps, tenant, run } = work;
  const verdict = verdictOf(ended);
  const { lockRetries = 0 } = step.result as Deployed;
  if (verdict.status === 'failed' && verdict.isLocked && lockRetries < LOCK_RETRIES) {
    const text = 'The org is locked by something else';
    await move(work, step, { state: 'planned', detail: text, result: { lockRetries: lockRetries + 1 } });
    return { againInSeconds: LOCK_PAUSE_SECONDS, text };
  }
  const problems = verdict.status === 'failed' ? await withCommits(work, build, verdict.problems, signal) : [];
  const warnings = (ended.details?.warnings ?? []).map((each) => problemText(componentProblem(each)));
  const coverage = (ended.details?.coverageWarnings ?? []).map(({ name, message }) =>
    [name, message].filter(Boolean).join(': '),
  );
  const remarks = [...warnings, ...(verdict.status === 'succeeded' ? coverage : [])];
  const lines = [...(work.linesBefore ?? []), ...linesOf(build, ended, problems, remarks)];
  const kept = await keepLines(deps, tenant, run.id, lines);
  const result: Deployed = {
    ...(ended.details && {
      changes: ended.details.changes,
      tests: { run: ended.details.testsRun, failed: ended.details.testsFailed },
    }),
    problems: problems.slice(0, SHOWN_MAX),
    problemCount: problems.length,
    warnings: remarks.slice(0, SHOWN_MAX),
    ...kept,
  };
  const error =
    verdict.status === 'failed' ? errorOf(problems) : verdict.status === 'cancelled' ? cancelledBy(verdict.by) : null;
  await inUnit(work, async (tx) => {
    await moveStep(tx, step.id, {
      state: verdict.status,
      detail: null,
      progress: progressOf(ended),
      error,
      result: { ...result },
    });
    const source = deployedSource(work, build, step);
    if (ended.checkOnly) return;
    const {
      baseSha = null,
      basePackages = null,
      baseSettings = null,
      pending = [],
      basePending = pending,
    } = build.intent as unknown as Partial<BuildIntent>;
    const base = { packages: basePackages, settingsDigest: baseSettings, pending: basePending };
    if (verdict.status === 'succeeded' && source) await keepSource(tx, source);
    // A deployment that fails leaves the org as it was.
    else if (verdict.status === 'failed' && baseSha !== null && source)
      await keepSource(tx, { ...source, ...base, commitSha: baseSha });
  });
  return { againInSeconds: 0, text: ended.status };
}

/** From now on nobody knows what the org runs, until this deployment has ended. Null: it was claimed. */
async function claimOrg({ deps, tenant, run, org }: OrgWork, build: StepRow): Promise<string | null> {
  const { commitSha, baseSha = null, baseSettings = null } = build.intent as unknown as Partial<BuildIntent>;
  if (commitSha === undefined) {
    await inUnit({ deps, tenant }, (tx) => forgetSources(tx, org.orgId));
    return null;
  }
  if (run.projectId === null) return null;
  const claim = { projectId: run.projectId, orgId: org.orgId, platformOrgId: org.platformOrgId };
  const change = { ...claim, environmentId: run.environmentId, runId: run.id, commitSha, baseSha, baseSettings };
  const isClaimed = await inUnit({ deps, tenant }, (tx) => claimSource(tx, change));
  return isClaimed
    ? null
    : 'The org has taken another deployment of the project since this one was built upon what it ran: start it again';
}

/** Removes the archive of a deployment that has ended. */
export async function removeArchive({ deps }: Pick<OrgWork, 'deps'>, build: StepRow): Promise<void> {
  const { object } = build.result as unknown as Partial<Built>;
  if (object) await deps.objects.remove(object);
}

/** What the org runs once it is deployed; undefined: no commit, or of no project. */
export function deployedSource({ run, org }: OrgWork, build: StepRow, step: StepRow) {
  const intent = build.intent as unknown as Partial<BuildIntent>;
  const { commitSha, packages = null, pending = [] } = intent;
  if (commitSha === undefined || run.projectId === null) return undefined;
  return {
    projectId: run.projectId,
    orgId: org.orgId,
    platformOrgId: org.platformOrgId,
    environmentId: run.environmentId,
    commitSha,
    packages,
    runId: run.id,
    deploymentId: step.externalId ?? '',
    settingsDigest: settingsDigest(intent),
    // Where another run built it, its intent has them.
    pending: (build.result as unknown as Partial<Built>).pending ?? pending,
  };
}

const cancelledBy = (by: string | null): string =>
  `The deployment was cancelled in the org${by === null ? '' : ` by ${by}`}`;

function errorOf(problems: readonly DeploymentProblem[]): string {
  const first = problems.slice(0, 3).map(problemText).join('; ');
  return `The org did not take it: ${first}${problems.length > 3 ? `; and ${problems.length - 3} more` : ''}`.slice(
    0,
    2_000,
  );
}

function linesOf(
  build: StepRow,
  ended: Deployment,
  problems: readonly DeploymentProblem[],
  remarks: readonly string[],
): string[] {
  const { reason, components, deletions, pending = [], warnings = [] } = build.result as unknown as Partial<Built>;
  const { components: done, tests } = ended;
  return [
    reason === undefined
      ? 'What was validated is deployed'
      : `${reason}: ${components} components, ${deletions} deletions`,
    ...warnings.map((each) => `Remark: ${each}`),
    ...pending.map(({ type, fullName }) => `Left undeleted: ${type} ${fullName}`),
    ...remarks.map((each) => `Remark: ${each}`),
    ...problems.map((each) => `Error: ${problemText(each)}`),
    `${ended.checkOnly ? 'Validation' : 'Deployment'} ${ended.deploymentId}: ${ended.status}, ${done.deployed} of ${done.total} components, ${tests.completed} of ${tests.total} tests passed`,
  ];
}
