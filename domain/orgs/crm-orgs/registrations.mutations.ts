import { sql } from 'kysely';
import { nameSandboxInEnvironments } from '../../projects/environments/environments.mutations.ts';
import { json } from '../../kernel/data/columns.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { adoptToken } from './tokens/crm-tokens.queries.ts';
import { changeHealth } from './org-health.mutations.ts';
import { orgTypeOf } from './org-rules.ts';
import {
  type OrgFacts,
  type OrgMarks,
  stateOf,
  noteOrg,
  orgToChange,
  follow,
  mark,
  type NewCredential,
  giveCredential,
  type SandboxOf,
} from './crm-orgs.mutations.ts';

export interface Registration extends OrgFacts {
  marks: OrgMarks;
  /** Absent: as it is. */
  metadata?: Record<string, string> | undefined;
  /** Which sandbox of which registered production org it is; absent: as it is. */
  sandbox?: SandboxOf | undefined;
  /**
   * A long-lived credential; the cached token of a sandbox without a record, which becomes that of the row; or the token
   * that the row has: of a long-lived credential, or just in time.
   */
  access:
    | ({ type: 'refresh_token' } & NewCredential)
    | { type: 'jit'; sandbox: SandboxOf }
    | { type: 'kept'; isJit: boolean };
}

/** Adds an org, or renews the one with that username. */
export async function registerOrg(tx: Tx, registration: Registration) {
  const { identity, instanceUrl, marks, metadata, access } = registration;
  const { username, kind, orgId, organizationType } = identity;
  const added = await tx.db
    .insertInto('crm_org')
    .values({
      id: newId(),
      tenantId: tx.tenantId,
      username,
      kind,
      instanceUrl,
      platformOrgId: orgId,
      organizationType,
      metadata: json({}),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  const isNew = added !== undefined;
  const org = await orgToChange(tx, added?.id ?? (await idOf(tx, username)));
  const before = isNew ? undefined : stateOf(org);
  follow(org, { identity, instanceUrl });
  await mark(tx, org, marks);
  if (metadata) org.metadata = metadata;
  const { sandbox } = access.type === 'jit' ? access : registration;
  if (sandbox) {
    org.sandboxName = sandbox.name;
    org.parentProductionUsername = sandbox.production.username;
  }
  org.isJitRegistration = access.type === 'jit' || (access.type === 'kept' && access.isJit);
  changeHealth(tx, org, undefined);
  await tx.em.flush();
  await nameSandboxInEnvironments(tx, org);
  if (access.type === 'refresh_token') await giveCredential(tx, org.id, access);
  if (access.type === 'jit') {
    const { name, production } = access.sandbox;
    await adoptToken(tx, { orgId: production.id, reachedName: name.toLowerCase() }, org.id);
  }
  noteOrg(
    tx,
    isNew ? 'registered' : 'updated',
    org.id,
    `Org ${username} ${isNew ? 'registered' : 'registered again'}`,
    {
      ...(before && { before }),
      after: stateOf(org),
    },
  );
  if (isNew)
    emitEvent(tx, 'org.registered', {
      orgUsername: username,
      orgId,
      orgType: orgTypeOf(org),
      instanceUrl,
      alias: org.metadata.alias ?? null,
      registeredBy: tx.actor.email,
    });
  return { id: org.id, isNew };
}

async function idOf({ db, tenantId }: Tx, username: string): Promise<string> {
  const { id } = await db
    .selectFrom('crm_org')
    .where('tenantId', '=', tenantId)
    .where(sql`lower(username)`, '=', sql`lower(${username})`)
    .select('id')
    .executeTakeFirstOrThrow();
  return id;
}
