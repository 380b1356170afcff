import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { askedNames, NO_ALIASES } from '../../../domain/delivery/org-packages/package-name-rules.ts';
import { intentOf, packageStep } from '../../../domain/delivery/org-packages/package-intents.ts';
import { inUninstallOrder, installedAs } from '../../../domain/delivery/org-packages/uninstall-plan-rules.ts';
import type { NewStep } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import type { FollowedOperation, Pending } from '../flows/operations.activities.ts';
import { answered } from '../org-steps/org-call-failed.ts';
import { packageOperation } from './package-operation.ts';
import type { PackageRun } from './package-steps.ts';
import { projectAliases } from './project-aliases.ts';

/** Uninstalls packages, each before what it needs. Their components and data are gone from the org. */
export const uninstallPackages: FollowedOperation = packageOperation({
  plan,
  create: ({ org }, step) => org.calls.startUninstall(intentOf(step).versionId),
});

async function plan({ deps, tenant, run, org, signal }: PackageRun): Promise<NewStep[] | RunOutcome | Pending> {
  const { calls, orgId, username: orgUsername } = org;
  const installed = answered(await calls.installedPackages());
  let found = installedAs(askedNames(run.payload), installed, NO_ALIASES);
  if (found.unknown.length > 0) {
    const project = await projectAliases(deps, tenant, run, signal);
    if (project.isOk) found = installedAs(askedNames(run.payload), installed, project.aliases);
  }
  if (found.unknown.length > 0) {
    const refusals = found.unknown.map((name) => `The org has no package ${name}`);
    return { status: 'failed', error: refusals.slice(0, 5).join('; '), result: { orgUsername, refusals } };
  }
  if (found.ambiguous.length > 0) {
    const error = `The org has several packages of that name, of which one is to be named by its id: ${found.ambiguous.join('; ')}`;
    return { status: 'failed', error, result: { orgUsername } };
  }
  const needs = new Map<string, readonly string[]>();
  for (const { versionId } of found.packages) {
    const version = answered(await calls.packageVersion(versionId));
    needs.set(versionId, version?.dependencies ?? []);
  }
  return inUninstallOrder(found.packages, needs).map(({ versionId: id, name, number }) =>
    packageStep('uninstall', { id, name, number, isUnlocked: false }, orgId, {
      before: number,
      skip: null,
      keyName: null,
    }),
  );
}
