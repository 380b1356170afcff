import { fullCommitId } from '../../../domain/code/git/commits.queries.ts';
import { type DeploymentWish, wishOf } from '../../../domain/delivery/org-deployments/deploy-order-rules.ts';
import { builtWith, withDefaults } from '../../../domain/delivery/org-deployments/deploy-settings-rules.ts';
import { sourceOfOrg, wasDeployedSince } from '../../../domain/delivery/org-deployments/org-sources.queries.ts';
import {
  BUILD,
  DEPLOY,
  type NamedSource,
  namedSource,
  VALIDATE,
  validationOf,
} from '../../../domain/delivery/org-deployments/source-of-run.ts';
import {
  type NewStep,
  planSteps,
  type StepRow,
  stepsOfRun,
} from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import type { ComponentName, SourceOrder } from '../../../domain/delivery/source/source-build.port.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import type { DeploySettings } from '../../../domain/projects/policies/deploy-settings-rules.ts';
import { deploySettingsOf } from '../../../domain/projects/environments/environments.queries.ts';
import type { TestLevel } from '../../../domain/orgs/crm/crm-deployments.port.ts';
import { isoOf } from '../../../domain/kernel/text/date-time-rules.ts';
import { fetchCommit } from '../../code/git/fetched-commits.ts';
import { remoteOfRun } from '../source/remote-of-run.ts';
import { answered } from '../org-steps/org-call-failed.ts';
import type { OrgWork } from '../org-steps/org-work.ts';

/** What a deployment was planned from: fixed when its run begins, so that each attempt builds the same. */
export type BuildIntent = Pick<
  SourceOrder,
  | 'commitSha'
  | 'baseSha'
  | 'isRollback'
  | 'packages'
  | 'deletions'
  | 'whole'
  | 'apiVersion'
  | 'replacements'
  | 'ignoredPaths'
> & {
  /** The digest of the settings with which the base was deployed. */
  baseSettings: string | null;
  pending: ComponentName[];
  /** What was pending of the base, where `pending` is what a validation left; absent: `pending`. */
  basePending?: ComponentName[];
  /** The packages that the org ran of `baseSha`; null: all. */
  basePackages: readonly string[] | null;
  /** Names of what of a release candidate has arrived with it. */
  artifacts?: readonly string[];
  /** Id in the org of a validation that is deployed. */
  validationId?: string;
};

/** What a person looks at where nobody knows what became of a deployment. */
export const LOOK_AT = 'Deployment Status in Setup';

/** How something is deployed, fixed as well. */
export interface DeployIntent {
  checkOnly?: boolean;
  testLevel?: TestLevel;
  tests?: string[];
  ignoreWarnings?: boolean;
  validationId?: string;
}

/** The steps of a run: what is built and deployed is decided once. Throws `DomainError` where nothing can be. */
export async function plannedSteps(work: OrgWork, signal: AbortSignal): Promise<StepRow[]> {
  const { deps, tenant, run, org } = work;
  const reads = deps.reads.as(systemActor(tenant, 'flow'));
  const before = await stepsOfRun(reads, run.id);
  if (before.length > 0) return before;
  const deploy = await deploySettingsOf(reads, run.environmentId);
  const wish = wishOf(withDefaults(run.payload, deploy));
  const unit = deps.actingAs(systemActor(tenant, 'flow'));
  if (wish.quickDeployOf !== undefined) {
    const { projectId, domain, releaseName, payload } = run;
    const named = { domain, releaseName, commitId: payload.commitId };
    const asked = { runId: wish.quickDeployOf, projectId, orgId: org.orgId, now: deps.now(), named };
    const { deploymentId, intent, result } = await validationOf(reads, asked);
    return unit((tx) =>
      planSteps(tx, run.id, [
        {
          name: BUILD,
          orgId: null,
          intent: {
            ...intent,
            pending: result.pending ?? [],
            basePending: intent.pending ?? [],
            validationId: deploymentId,
          },
        },
        { name: DEPLOY, orgId: org.orgId, intent: { validationId: deploymentId } },
      ]),
    );
  }
  const commitSha = await commitOf(work, await namedSource(reads, run), signal);
  const steps = await sourceSteps(work, { commitSha, wish, deploy });
  return unit((tx) => planSteps(tx, run.id, steps));
}

/** What is deployed of a commit to the org of a run, and how. */
export interface SourceWish {
  commitSha: string;
  wish: DeploymentWish;
  /** The settings of the environment; null: it has none. */
  deploy: DeploySettings | null;
  /** The org is to run an earlier commit again. */
  isRollback?: boolean;
  /** Names of what of a release candidate has arrived with it. */
  artifacts?: readonly string[];
}

/** The steps that build and deploy, or validate, a commit: a later attempt builds the same. */
export async function sourceSteps(
  work: OrgWork,
  { commitSha, wish, deploy, isRollback = false, artifacts = [] }: SourceWish,
): Promise<NewStep[]> {
  const { deps, org } = work;
  const { deletions, whole, sourcePackages, validateOnly, testLevel, tests, ignoreWarnings } = wish;
  const intent: BuildIntent = {
    commitSha,
    ...(await baseOf(work, sourcePackages)),
    ...builtWith(deploy),
    deletions,
    whole,
    ...(sourcePackages && { packages: sourcePackages }),
    ...(isRollback && { isRollback }),
    apiVersion: answered(await deps.crm.platform.apiVersion(org.instanceUrl)),
  };
  const carried = artifacts.length > 0 && { artifacts };
  return [
    { name: BUILD, orgId: null, intent: { ...intent, ...carried } },
    {
      name: validateOnly ? VALIDATE : DEPLOY,
      orgId: org.orgId,
      intent: { checkOnly: validateOnly, testLevel, tests, ignoreWarnings, ...carried },
    },
  ];
}

/**
 * What the org ran last of the project, as far as that is known: a sandbox that was refreshed, or an environment to which
 * something was deployed otherwise, runs what nobody here knows, as does an org that took other packages of it.
 */
export async function baseOf(
  { deps, tenant, run, org }: OrgWork,
  packages: readonly string[] | undefined,
): Promise<Pick<BuildIntent, 'baseSha' | 'baseSettings' | 'basePackages' | 'pending'>> {
  const reads = deps.reads.as(systemActor(tenant, 'flow'));
  const known = await sourceOfOrg(reads, run.projectId ?? '', org.orgId);
  if (!known || known.platformOrgId !== org.platformOrgId)
    return { baseSha: null, baseSettings: null, basePackages: null, pending: [] };
  const environmentId = run.environmentId ?? known.environmentId;
  const last = { runId: known.runId, deployedAt: isoOf(known.deployedAt) };
  const isOther = environmentId !== null && (await wasDeployedSince(reads, environmentId, last));
  const { commitSha, packages: basePackages, settingsDigest: baseSettings, pending } = known;
  const isCovered = basePackages === null || packages?.every((name) => basePackages.includes(name)) === true;
  return { baseSha: isOther || !isCovered ? null : commitSha, baseSettings, basePackages, pending };
}

async function commitOf({ deps, tenant, run }: OrgWork, named: NamedSource, signal: AbortSignal): Promise<string> {
  const found = await remoteOfRun(deps, tenant, run);
  if (!found.isOk) throw new DomainError('flow_unavailable', found.reason);
  const { projectId, mirror, remote } = found.value;
  if ('commitSha' in named) return fullCommitId(deps.reads.as(systemActor(tenant, 'flow')), projectId, named.commitSha);
  const head = await fetchCommit(deps.git.mirrors, { mirror, remote, wanted: undefined, branch: named.branch }, signal);
  if (!head.isOk) throw new DomainError('flow_unavailable', head.reason);
  return head.value;
}
