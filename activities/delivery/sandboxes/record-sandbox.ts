import { updateEnvironment } from '../../../domain/projects/environments/environments.mutations.ts';
import { environmentById } from '../../../domain/projects/environments/environments.queries.ts';
import type { StepMove, StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import type { CrmFailure } from '../../../domain/orgs/crm/crm-platform.port.ts';
import {
  forgetFormerSandbox,
  registerCopiedSandbox,
  removeDeletedSandbox,
} from '../../../domain/orgs/crm-orgs/copied-sandboxes.mutations.ts';
import { environmentsNaming } from '../../../domain/orgs/crm-orgs/crm-orgs.queries.ts';
import { failureText } from '../../../domain/orgs/crm-orgs/tokens/org-failure-rules.ts';
import type { Tx } from '../../../domain/unit-of-work.ts';
import type { Pending } from '../flows/operations.activities.ts';
import { PASSES } from '../org-steps/act-in-org.ts';
import { OrgCallFailed } from '../org-steps/org-call-failed.ts';
import type { FollowedCopy } from './follow-copy.ts';
import { type CheckedSandbox, move, moved, type SandboxWork } from './sandbox-work.ts';

/** Production may give no code for some time after a copying. */
const NOT_READY = 'INVALID_STATUS';
const READY_WITHIN_MS = 2 * 3_600_000;
/** A code that was exchanged a moment ago, before a worker was lost, is not asked for again: each costs an approval. */
const FRESH_MS = 5 * 60_000;

/** Registers the org of a copy that is complete; a step that fails so leaves the sandbox as it is. */
export async function recordCopied(
  work: SandboxWork,
  step: StepRow,
  copy: StepRow,
  { formerOrgId }: CheckedSandbox,
): Promise<{ step: StepRow } | Pending> {
  const { platformOrgId }: FollowedCopy = copy.result;
  if (platformOrgId === undefined) {
    const detail = 'There is no org to register before it is activated';
    return { step: await move(work, step, { state: 'skipped', detail }) };
  }
  const { deps, tenant, sandbox, signal } = work;
  await work.unit((tx) => forgetFormerSandbox(tx, sandbox, { platformOrgId, formerOrgId }));
  const orgKey = { ...tenant, orgId: sandbox.production.id, sandboxName: sandbox.name };
  const token = await deps.crm.connections.tokenOf(orgKey, { maxAgeMs: FRESH_MS, isForced: true, signal });
  if (!token.isOk) return notRegistered(work, step, copy, token);
  const identity = await deps.crm.connections.callOrg(orgKey, { signal }).identity();
  if (!identity.isOk) return notRegistered(work, step, copy, identity);
  const { instanceUrl } = token.value;
  const { username: orgUsername, orgId } = identity.value;
  return work.unit(async (tx) => {
    const { isNew } = await registerCopiedSandbox(tx, { sandbox, identity: identity.value, instanceUrl });
    await nameInOwnEnvironment(tx, work, orgUsername);
    const result = { orgUsername, orgId, isNew, environments: await namedBy(tx, [orgUsername]) };
    return { step: await moved(tx, step, { state: 'succeeded', detail: orgUsername, result }) };
  });
}

async function notRegistered(
  work: SandboxWork,
  step: StepRow,
  { endedAt }: StepRow,
  failure: CrmFailure,
): Promise<{ step: StepRow } | Pending> {
  const { deps, sandbox } = work;
  const isEarly = deps.now().getTime() - Date.parse(endedAt ?? '') < READY_WITHIN_MS;
  if (failure.code === NOT_READY && isEarly)
    return { againInSeconds: 60, text: `${step.name}: waiting until production gives a code for it` };
  if (PASSES[failure.kind]) throw new OrgCallFailed(failure);
  const error = failureText(`Sandbox ${sandbox.name} is copied, but could not be registered`, failure);
  return { step: await move(work, step, { state: 'failed', error }) };
}

/** The environment that a payload names, and which has no org, is that of the sandbox. */
async function nameInOwnEnvironment(tx: Tx, { run }: SandboxWork, orgUsername: string): Promise<void> {
  const { environmentId, payload } = run;
  if (environmentId === null || (payload.environmentName === undefined && payload.environmentId === undefined)) return;
  const { environment } = await environmentById(tx, environmentId);
  if (environment.orgUsername === null) await updateEnvironment(tx, environmentId, { orgUsername });
}

/** Removes the records of a sandbox that was deleted. */
export async function recordDeleted(
  work: SandboxWork,
  step: StepRow,
  { formerOrgId }: CheckedSandbox,
): Promise<{ step: StepRow }> {
  return work.unit(async (tx) => {
    const removed = await removeDeletedSandbox(tx, work.sandbox, formerOrgId);
    const environments = await namedBy(tx, removed);
    const change: StepMove =
      removed.length === 0
        ? { state: 'skipped', detail: 'It was not registered' }
        : {
            state: 'succeeded',
            detail: environments.length > 0 ? `Environments that still name it: ${environments.join(', ')}` : null,
            result: { removed, environments },
          };
    return { step: await moved(tx, step, change) };
  });
}

/** The environments that name orgs, as `acme/app: uat`. */
const namedBy = async (tx: Tx, usernames: readonly string[]): Promise<string[]> =>
  (await environmentsNaming(tx, usernames)).map(({ repositoryIdentifier, name }) => `${repositoryIdentifier}: ${name}`);
