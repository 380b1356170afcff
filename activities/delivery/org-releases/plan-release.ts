import { packagesOfManifest } from '../../../domain/code/git/package-rules.ts';
import { aliasesOfManifest, NO_ALIASES } from '../../../domain/delivery/org-packages/package-name-rules.ts';
import { intentOf } from '../../../domain/delivery/org-packages/package-intents.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { flowType } from '../../../domain/delivery/flows/flow-types.ts';
import { wishOf } from '../../../domain/delivery/org-deployments/deploy-order-rules.ts';
import { withDefaults } from '../../../domain/delivery/org-deployments/deploy-settings-rules.ts';
import { deploySettingsOf } from '../../../domain/projects/environments/environments.queries.ts';
import { type ReleaseOfRun, releaseOfRun } from '../../../domain/delivery/org-releases/release-of-run.ts';
import {
  builtPackages,
  contentOfRelease,
  type ProjectPackages,
  type ReleaseContent,
} from '../../../domain/delivery/org-releases/release-content-rules.ts';
import { cannotDoBySteps, stayingSteps } from '../../../domain/delivery/org-releases/rollback-limits.ts';
import { type NewStep, STEPS_MAX } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { readProjectFile } from '../../../domain/delivery/source/project-file-rules.ts';
import { type BuildIntent, sourceSteps } from '../org-deployments/plan-deployment.ts';
import type { Pending } from '../flows/operations.activities.ts';
import { planVersions } from '../org-packages/install-packages.ts';
import type { PackageRun } from '../org-packages/package-steps.ts';
import { projectManifest } from '../org-packages/project-aliases.ts';

/** What a run does for its release. */
export interface ReleasePlan {
  steps: NewStep[];
  /** What is known of it before it begins, as members of the run's result. */
  notes: { leftOut?: string[]; cannotDo?: string[] };
}

const refused = (reasons: readonly string[], orgUsername: string): RunOutcome => ({
  status: 'failed',
  error: reasons.slice(0, 5).join('; '),
  result: { orgUsername, refusals: [...reasons] },
});

/** What is done for the release of a run in its org, or why nothing is begun, or when to look again. */
export async function planRelease(given: PackageRun): Promise<ReleasePlan | RunOutcome | Pending> {
  const { run, org, unit } = given;
  const isRollback = flowType(run.taskType)?.isRollback === true;
  const release = await unit((tx) => releaseOfRun(tx, run));
  if (typeof release === 'string') return refused([release], org.username);
  const project = await projectOfCommit(given, release.commitSha);
  if (typeof project === 'string') return refused([project], org.username);
  const content = contentOfRelease(release.packages, project);
  if (content.refusals.length > 0)
    return refused(
      content.refusals.map((reason) => `The service cannot install all of ${release.releaseName}: ${reason}`),
      org.username,
    );
  const { versions: named, artifactsOf: artifacts } = content;
  const { aliases } = project;
  const versions = named.length === 0 ? [] : await planVersions(given, { named, aliases, artifacts, isRollback });
  if (!Array.isArray(versions)) return versions;
  const { source } = content;
  const deploy = await unit((tx) => deploySettingsOf(tx, run.environmentId));
  const wish = { ...wishOf(withDefaults(run.payload, deploy)), validateOnly: false, quickDeployOf: undefined };
  const deployed = source
    ? await sourceSteps(given, {
        commitSha: project.commitId,
        wish: { ...wish, sourcePackages: source.packages },
        deploy,
        isRollback,
        artifacts: source.artifacts,
      })
    : [];
  const steps = [...versions, ...stayingOf(release, content, project, org.orgId), ...deployed];
  const why = whyNothing(release, steps);
  if (why !== null) return refused([why], org.username);
  if (steps.length > STEPS_MAX - MORE_STEPS)
    return refused([`The release has ${steps.length} steps, which is more than a run takes`], org.username);
  const build = deployed[0]?.intent as BuildIntent | undefined;
  const cannotDo = isRollback ? cannotDoBySteps(steps, build) : [];
  return {
    steps,
    notes: {
      ...(content.leftOut.length > 0 && { leftOut: content.leftOut }),
      ...(cannotDo.length > 0 && { cannotDo }),
    },
  };
}

/** Tests are steps of their own. */
const MORE_STEPS = 2;

/** Packages that a rollback leaves, as the release which it takes back brought them. */
function stayingOf(
  { takenBack = {}, packages: { artifacts } }: ReleaseOfRun,
  { source }: ReleaseContent,
  { directories }: ProjectPackages,
  orgId: string,
): NewStep[] {
  const isSource = (name: string) => directories.some((each) => each.name === name || each.directory === name);
  const isAll = source !== null && source.packages === undefined;
  const gone = Object.entries(takenBack).filter(
    ([name]) => !Object.hasOwn(artifacts, name) && !(isAll && isSource(name)),
  );
  return stayingSteps(Object.fromEntries(gone), orgId);
}

/** Why there is nothing to do for a release at all; null: there is something. */
function whyNothing({ releaseName }: ReleaseOfRun, steps: readonly NewStep[]): string | null {
  if (steps.length === 0) return `The release candidate ${releaseName} carries neither package versions nor source`;
  const packages = steps.map(({ intent = {} }) => intentOf({ intent }));
  if (packages.some(({ isLeft }) => isLeft !== true)) return null;
  const reasons = packages.map(({ name, before, number, skip }) => `${name} ${before ?? number}: ${skip}`);
  return `Nothing can be taken back to ${releaseName}: ${reasons.slice(0, 5).join('; ')}`;
}

/** What the project file of a commit says, or why it cannot be told, in words. */
async function projectOfCommit(
  { deps, tenant, run, signal }: PackageRun,
  commitSha: string,
): Promise<(ProjectPackages & { commitId: string }) | string> {
  const of = { ...run, payload: { ...run.payload, commitId: commitSha } };
  const found = await projectManifest(deps, tenant, of, signal);
  if (!found.isOk) return found.reason;
  const { text, commitId } = found;
  if (text === null) return { aliases: NO_ALIASES, built: new Set(), named: new Set(), directories: [], commitId };
  const project = readProjectFile(text);
  if (typeof project === 'string') return project;
  return {
    aliases: aliasesOfManifest(text) ?? NO_ALIASES,
    built: builtPackages(text),
    named: new Set(packagesOfManifest(text)?.map(({ name }) => name)),
    directories: project.packages,
    commitId,
  };
}
