import { renameOrgInEnvironments } from '../../projects/environments/environments.mutations.ts';
import { isSameName } from '../../projects/environments/org-name-rules.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Tx } from '../../unit-of-work.ts';
import { forgetFormerOrg } from '../org-explorer/component-index.queries.ts';
import { noteOrg, type OrgFacts, orgToChange, removeOrg, type SandboxOf } from './crm-orgs.mutations.ts';
import { type OrgRow, recordsOf } from './crm-orgs.queries.ts';
import { noteMoved } from './org-health.mutations.ts';
import { registerOrg } from './registrations.mutations.ts';
import { forgetReachedToken, forgetTokens } from './tokens/crm-tokens.queries.ts';

/**
 * The registered orgs that are a sandbox, one for each of its usernames that is registered.
 * @param platformOrgId 18 characters; finds also those of which nobody knows that they are that sandbox.
 */
export const recordsOfSandbox = (
  reads: Reads,
  { name, production: { username: productionUsername } }: SandboxOf,
  platformOrgId: string | null = null,
): Promise<OrgRow[]> =>
  recordsOf(reads, {
    username: `${productionUsername}.${name}`,
    platformOrgId,
    sandbox: { name, productionUsername },
  });

/**
 * Forgets what was known of a sandbox before it was copied anew: its tokens, which are dead, and the index of its metadata. From
 * now on it is signed in to through its production org.
 * @param platformOrgId of the copy, 18 characters.
 * @param formerOrgId of the sandbox before; null: there was none.
 */
export async function forgetFormerSandbox(
  tx: Tx,
  sandbox: SandboxOf,
  { platformOrgId, formerOrgId }: { platformOrgId: string; formerOrgId: string | null },
): Promise<void> {
  await forgetReachedToken(tx, sandbox, platformOrgId);
  for (const { id, username, platformOrgId: before } of await recordsOfSandbox(tx, sandbox, formerOrgId)) {
    if (before === platformOrgId) continue;
    const org = await orgToChange(tx, id);
    Object.assign(org, {
      isJitRegistration: true,
      sandboxName: sandbox.name,
      parentProductionUsername: sandbox.production.username,
    });
    await noteMoved(tx, id, { instanceUrl: undefined, platformOrgId });
    await tx.em.flush();
    await forgetTokens(tx, id);
    await forgetFormerOrg(tx, { id, username, platformOrgId });
  }
}

/**
 * Registers a sandbox that was copied, by the token for which its production org gave a code, or follows it. Environments that
 * name it by a username with which nobody can sign in any more name it by the one that was signed in with.
 */
export async function registerCopiedSandbox(
  tx: Tx,
  { sandbox, ...facts }: OrgFacts & { sandbox: SandboxOf },
): Promise<{ isNew: boolean }> {
  const { username } = facts.identity;
  const records = await recordsOfSandbox(tx, sandbox);
  const former = records.filter((record) => !isSameName(record.username, username));
  if (records.length > 0 && former.length === records.length && former[0]) {
    const org = await orgToChange(tx, former[0].id);
    noteOrg(tx, 'updated', org.id, `Org ${org.username} is known as ${username} from now on`, {
      before: { username: org.username },
      after: { username },
    });
    org.username = username;
    await tx.em.flush();
  }
  for (const record of former) await renameOrgInEnvironments(tx, record.username, username);
  return registerOrg(tx, { ...facts, sandbox, marks: {}, access: { type: 'jit', sandbox } });
}

/** Removes the records and tokens of a sandbox that was deleted. Answers the usernames of the records. */
export async function removeDeletedSandbox(tx: Tx, sandbox: SandboxOf, formerOrgId: string | null): Promise<string[]> {
  const records = await recordsOfSandbox(tx, sandbox, formerOrgId);
  for (const { id } of records) await removeOrg(tx, id);
  await forgetReachedToken(tx, sandbox);
  return records.map(({ username }) => username);
}
