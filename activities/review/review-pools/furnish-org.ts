import { settingsFiles } from '../../../domain/review/review-pools/scratch-definition-rules.ts';
import { intentOf, type RegisteredOrg } from '../../../domain/review/review-pools/pool-parts.ts';
import { isAssigned } from '../../../domain/review/review-pools/instance-rules.ts';
import { liveInstance } from '../../../domain/review/review-pools/review-instances.queries.ts';
import { setInstanceState } from '../../../domain/review/review-pools/review-instances.mutations.ts';
import {
  problemText,
  progressOf,
  stageOf,
  verdictOf,
} from '../../../domain/delivery/org-deployments/deployment-outcome-rules.ts';
import { deployRequestsSince, mayBeAsked } from '../../../domain/delivery/org-deployments/deploy-order-rules.ts';
import { findRun } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { acceptNewRun } from '../../../domain/delivery/flows/new-runs.mutations.ts';
import { POOL_PARTS } from '../../../domain/delivery/flows/flow-categories.ts';
import { isFinal, isSuccess } from '../../../domain/delivery/flows/run-status-rules.ts';
import { moveStep, type StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { storedZip } from '../../../domain/kernel/shared/stored-zip.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { assignments, permissionSets } from '../../delivery/org-people/org-permission-sets.ts';
import { beginOnce } from '../../delivery/org-steps/begin-once.ts';
import { noteProgress } from '../../delivery/org-steps/note-progress.ts';
import { answered } from '../../delivery/org-steps/org-call-failed.ts';
import { inUnit, move } from '../../delivery/org-steps/org-work.ts';
import { ownSince } from '../../delivery/org-steps/own-since.ts';
import { madeOrg, type PartNext, type PoolWork, runActor } from './pool-work.ts';

/** Deploys the settings of the definition file. */
export async function deploySettings(work: PoolWork, step: StepRow, made: RegisteredOrg): Promise<PartNext> {
  const { deps, tenant } = work;
  const org = madeOrg(work, made);
  const { settings = {} } = intentOf(step);
  const lookAt = `Deployment Status in Setup of ${made.username}`;
  const begun = await beginOnce(deps, tenant, step, {
    async create() {
      const version = answered(await deps.crm.platform.apiVersion(made.instanceUrl));
      const files = [...settingsFiles(settings, version)];
      const zip = await storedZip(files.map(([path, text]) => ({ path, content: Buffer.from(text) })));
      const archive = { sizeBytes: zip.length, content: () => bytesOf(zip) };
      const started = await org.calls.startDeployment({
        archive,
        checkOnly: false,
        testLevel: 'default',
        tests: [],
        ignoreWarnings: true,
      });
      return started.isOk ? { isOk: true, value: started.value.deploymentId } : started;
    },
    find: ownSince(deps, tenant, org, step, {
      soql: deployRequestsSince({ checkOnly: false }),
      member: 'Id',
      async mayBe(id) {
        const found = await org.calls.deploymentStatus(id);
        const components = Object.keys(settings).length;
        const asked = { checkOnly: false, testLevel: 'default', tests: [], components, isQuick: false } as const;
        return found.isOk ? { isOk: true, value: mayBeAsked(asked, found.value) } : found;
      },
    }),
    lookAt,
  });
  const deployment = answered(await org.calls.deploymentStatus(begun.externalId ?? '', { includeDetails: true }));
  if (!deployment.isDone) {
    const seen = { text: stageOf(deployment), progress: progressOf(deployment), lookAt };
    return (await noteProgress(work, begun, seen)) ? undefined : { againInSeconds: 5, text: step.name };
  }
  const verdict = verdictOf(deployment);
  if (verdict.status === 'succeeded') await move(work, step, { state: 'succeeded', detail: null });
  else {
    const error =
      verdict.status === 'cancelled'
        ? 'The deployment was cancelled in the org'
        : verdict.problems.slice(0, 3).map(problemText).join('; ');
    await move(work, step, { state: 'failed', detail: null, error });
  }
  return undefined;
}

async function* bytesOf(zip: Buffer): AsyncGenerator<Uint8Array> {
  yield zip;
}

export type RunPart = keyof typeof POOL_PARTS;
const LOOK_AGAIN_S = 10;

/** Has a run of its own do a part in an org, and follows it. */
export async function followPart(
  work: PoolWork,
  step: StepRow,
  part: RunPart,
  made: RegisteredOrg | undefined,
): Promise<PartNext> {
  if (step.state === 'planned') return startPart(work, step, part, made?.username);
  const child = await findRun(work.deps.reads.as(systemActor(work.tenant, 'flow')), step.id);
  if (child && !isFinal(child.status)) return { againInSeconds: LOOK_AGAIN_S, text: step.name };
  if (child && isSuccess(child.status)) {
    const { orgUsername } = child.result ?? {};
    await move(work, step, { state: 'succeeded', ...(part === 'sandbox' && { result: { orgUsername } }) });
  } else await move(work, step, { state: 'failed', error: child?.error ?? 'Its run did not succeed' });
  return undefined;
}

async function startPart(
  work: PoolWork,
  step: StepRow,
  part: RunPart,
  orgUsername: string | undefined,
): Promise<PartNext> {
  const { run, pool, recipe } = work;
  const { org, commitId, sandboxName } = intentOf(step);
  const { postCopy: _, ...sandbox } = recipe.sandbox ?? {};
  const id = POOL_PARTS[part];
  const own = {
    sandbox: { ...sandbox, sandboxName, productionUsername: work.org.username },
    packages: { packages: recipe.packages },
    source: { ...(recipe.sourcePackages && { sourcePackages: recipe.sourcePackages }) },
    command: recipe.command ?? {},
  }[part];
  const payload = {
    ...own,
    id,
    repositoryIdentifier: pool.repositoryIdentifier,
    ...(orgUsername !== undefined && { orgUsername }),
    ...(commitId !== undefined && { commitId }),
    // By which the parts of a run are told apart.
    flowPath: `flows/${id}/${org}`,
  };
  try {
    await inUnit(work, async (tx) => {
      const origin = { id: step.id, parentId: run.id, isPart: true, triggeredBy: run.triggeredBy };
      const accepted = await acceptNewRun(tx, payload, origin);
      await moveStep(tx, step.id, { state: 'begun', externalId: accepted.runId });
      tx.after('acceptedRun', accepted);
    });
  } catch (error) {
    if (!(error instanceof DomainError) || error.code === 'unavailable') throw error;
    await move(work, step, { state: 'failed', error: error.message });
    return undefined;
  }
  return { againInSeconds: LOOK_AGAIN_S, text: step.name };
}

/** Gives the user of an org the permission sets of the pool. */
export async function assignPermissionSets(work: PoolWork, step: StepRow, made: RegisteredOrg): Promise<PartNext> {
  const { calls } = madeOrg(work, made);
  const names = work.recipe.permissionSets;
  const { userId } = answered(await calls.identity());
  const sets = await permissionSets(calls, names);
  const missing = names.filter((name) => !sets.some((set) => set.name.toLowerCase() === name.toLowerCase()));
  if (missing.length > 0) {
    await move(work, step, { state: 'failed', error: `The org has no permission set ${missing.join(', ')}` });
    return undefined;
  }
  const has = new Set((await assignments(calls, [userId])).map(({ setId }) => setId));
  const records = sets
    .filter(({ id }) => !has.has(id))
    .map(({ id, isGroup }) => ({ AssigneeId: userId, [isGroup ? 'PermissionSetGroupId' : 'PermissionSetId']: id }));
  const written =
    records.length === 0 ? [] : answered(await calls.createRecords({ type: 'PermissionSetAssignment', records }));
  const errors = written.flatMap((each) => each.errors).filter(({ code }) => code !== 'DUPLICATE_VALUE');
  await move(
    work,
    step,
    errors.length > 0
      ? { state: 'failed', error: errors.map(({ code, message }) => `${message} (${code})`).join('; ') }
      : { state: 'succeeded', detail: names.join(', ') },
  );
  return undefined;
}

/** From now on the pool can allocate the org. */
export async function handOver(work: PoolWork, step: StepRow, made: RegisteredOrg): Promise<PartNext> {
  const { deps, tenant, run, pool } = work;
  await deps.actingAs(runActor(tenant, run.id))(async (tx) => {
    // Where somebody has handed it over by hand, it may have its assignment already.
    const instance = await liveInstance(tx, made.username);
    if (instance?.id !== made.instanceId || !isAssigned(instance.state))
      await setInstanceState(tx, pool.id, made.instanceId, { state: 'available', reason: null });
    await moveStep(tx, step.id, { state: 'succeeded', detail: made.username });
  });
  return undefined;
}
