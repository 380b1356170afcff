import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { planInstall } from '../../../domain/delivery/org-packages/install-plan-rules.ts';
import { isReleaseTarget } from '../../../domain/delivery/org-packages/org-packages.queries.ts';
import { keyProblem, validationOf } from '../../../domain/delivery/org-packages/package-answer-rules.ts';
import { packageKeys } from '../../../domain/delivery/org-packages/package-keys.ts';
import {
  askedPackages,
  isVersionId,
  keysByVersion,
  type NamedKey,
  NO_ALIASES,
  type VersionAliases,
  versionAsked,
} from '../../../domain/delivery/org-packages/package-name-rules.ts';
import { installOrder, installSteps, intentOf } from '../../../domain/delivery/org-packages/package-intents.ts';
import { atWorkSince } from '../../../domain/delivery/org-steps/org-turns.queries.ts';
import type { NewStep, StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import type { CrmPackageVersion, InstalledPackage } from '../../../domain/orgs/crm/crm-packages.port.ts';
import type { FollowedOperation, Pending } from '../flows/operations.activities.ts';
import { answered } from '../org-steps/org-call-failed.ts';
import { packageOperation } from './package-operation.ts';
import type { PackageRun, PackageWork } from './package-steps.ts';
import { projectAliases } from './project-aliases.ts';

/** How versions are installed once they are planned. */
export const installing: PackageWork = {
  async ready(given, step) {
    const { versionId } = intentOf(step);
    const answer = await given.org.calls.packageVersion(versionId, await keyOfStep(given, step));
    const reason = answer.isOk ? undefined : keyProblem(answer);
    if (reason !== undefined) return { refusal: reason };
    const version = answered(answer);
    const validation = version ? validationOf(version.validation) : ({ is: 'waiting' } as const);
    if (validation.is === 'refused') return { refusal: validation.reason };
    return validation.is === 'good' ? undefined : waiting(step.name, version?.validation);
  },
  create: async (given, step) =>
    given.org.calls.startInstall(installOrder(intentOf(step), given.run.payload, await keyOfStep(given, step))),
  async cleaned(given, step, texts) {
    const key = await keyOfStep(given, step);
    return key === undefined ? texts : texts.map((text) => text.replaceAll(key, '…'));
  },
};

/** Installs versions of packages with all that they need, each once, in the order in which they need each other. */
export const installPackages: FollowedOperation = packageOperation({ plan, ...installing });

const waiting = (name: string, status = 'PACKAGE_UNAVAILABLE'): Pending => ({
  againInSeconds: 60,
  text: `${name} waits until the org can take it: ${status}`,
});

const keysOf = ({ unit, deps, run }: PackageRun) =>
  unit((tx) => packageKeys(tx, deps.encryption, { runId: run.id, projectId: run.projectId }));

async function keyOfStep(given: PackageRun, step: StepRow): Promise<string | undefined> {
  const { keyName } = intentOf(step);
  return keyName === null ? undefined : (await keysOf(given))[keyName];
}

const failed = (reasons: readonly string[], orgUsername: string): RunOutcome => ({
  status: 'failed',
  error: reasons.slice(0, 5).join('; '),
  result: { orgUsername, refusals: [...reasons] },
});

async function plan(given: PackageRun): Promise<NewStep[] | RunOutcome | Pending> {
  const { deps, tenant, run, org, signal } = given;
  const asked = askedPackages(run.payload);
  const keys = await keysOf(given);
  const isByAlias = asked.some(({ version }) => !isVersionId(version));
  const isNeeded = isByAlias || Object.keys(keys).some((name) => !isVersionId(name));
  const found = isNeeded ? await projectAliases(deps, tenant, run, signal) : undefined;
  if (isByAlias && found?.isOk === false) return failed([found.reason], org.username);
  const aliases = found?.isOk ? found.aliases : NO_ALIASES;
  const versions = asked.map((each) => versionAsked(each, aliases));
  const unknown = versions.flatMap((version) => (version.isOk ? [] : [version.reason]));
  if (unknown.length > 0) return failed(unknown, org.username);
  const named = [...new Set(versions.flatMap((version) => (version.isOk ? [version.versionId] : [])))];
  return planVersions(given, { named, aliases });
}

/**
 * The steps that install versions with all that they need, or why none of them is begun, or when to look again.
 * @param wish `named` are ids of versions, `artifacts` names of what has arrived with each.
 */
export async function planVersions(
  given: PackageRun,
  wish: {
    named: readonly string[];
    aliases: VersionAliases;
    artifacts?: ReadonlyMap<string, readonly string[]>;
    isRollback?: boolean;
  },
): Promise<NewStep[] | RunOutcome | Pending> {
  const { run, org, unit } = given;
  const { named, aliases, artifacts, isRollback } = wish;
  const withKey = keysByVersion(await keysOf(given), aliases);
  const installed = answered(await org.calls.installedPackages());
  const needed = await neededVersions(given, { named, installed, withKey });
  if (needed.missing !== undefined) return waitForVersion(given, needed.missing);
  const isRelease = await unit((tx) =>
    isReleaseTarget(tx, { orgUsername: org.username, environmentId: run.environmentId }),
  );
  const target = { installed, isRelease };
  const { planned, refusals } = planInstall({ named, versions: needed.versions, withKey, target, isRollback });
  const reasons = [...needed.problems, ...refusals];
  return reasons.length > 0 ? failed(reasons, org.username) : installSteps(planned, org.orgId, withKey, artifacts);
}

/** A version that nobody made yet may be on its way to the org. */
const PLAN_WAIT_MS = 30 * 60_000;

async function waitForVersion({ deps, run, org, unit }: PackageRun, versionId: string): Promise<RunOutcome | Pending> {
  const nowMs = deps.now().getTime();
  const sinceMs = nowMs - ((await unit((tx) => atWorkSince(tx, run))) ?? nowMs);
  return sinceMs > PLAN_WAIT_MS
    ? failed([`The org does not know the version ${versionId}`], org.username)
    : waiting(`Version ${versionId}`);
}

const VERSIONS_MAX = 200;

interface Needed {
  versions: Map<string, CrmPackageVersion>;
  problems: string[];
  /** A version that the org does not know. */
  missing: string | undefined;
}

/** All versions that some need, as the org sees them; what it has already needs nothing. */
async function neededVersions(
  { org: { calls }, signal }: PackageRun,
  {
    named,
    installed,
    withKey,
  }: { named: readonly string[]; installed: readonly InstalledPackage[]; withKey: ReadonlyMap<string, NamedKey> },
): Promise<Needed> {
  const there = new Map(installed.map((each) => [each.versionId, each]));
  const needed: Needed = { versions: new Map(), problems: [], missing: undefined };
  const asked = new Map<string, string | null>(named.map((id) => [id, null]));
  for (const [id, by] of asked) {
    if (asked.size > VERSIONS_MAX) {
      needed.problems.push(`more than ${VERSIONS_MAX} versions are needed`);
      break;
    }
    signal.throwIfAborted();
    const has = there.get(id);
    if (has) {
      needed.versions.set(id, asVersion(has));
      continue;
    }
    const answer = await calls.packageVersion(id, withKey.get(id)?.key);
    const reason = answer.isOk ? undefined : keyProblem(answer);
    if (reason !== undefined) {
      needed.problems.push(`${id}${by === null ? '' : `, which ${by} needs`}: ${reason}`);
      continue;
    }
    const version = answered(answer);
    if (!version) return { ...needed, missing: id };
    needed.versions.set(id, version);
    for (const dependency of version.dependencies)
      if (!asked.has(dependency)) asked.set(dependency, `${version.name} ${version.number}`);
  }
  return needed;
}

const asVersion = ({ versionId: id, packageId, name, number }: InstalledPackage): CrmPackageVersion => ({
  id,
  packageId,
  name,
  number,
  isReleased: true,
  isUnlocked: false,
  needsKey: false,
  validation: 'NO_ERRORS_DETECTED',
  dependencies: [],
});
