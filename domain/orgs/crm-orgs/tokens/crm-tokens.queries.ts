import { sql } from 'kysely';
import type { ApiUsage, CrmFailure } from '../../crm/crm-platform.port.ts';
import { json } from '../../../kernel/data/columns.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import { statement } from '../../../kernel/data/statement.ts';
import { newId } from '../../../kernel/shared/ids.ts';
import type { Tx } from '../../../unit-of-work.ts';
import type { Lease } from './token-leases.queries.ts';

/**
 * What a token is found by: a registered org's own or, with a name, that of a sandbox or scratch org that is reached through
 * it.
 */
export interface TokenKey {
  orgId: string;
  /** Name of the sandbox or username of the scratch org, in lower case; empty for the org itself. */
  reachedName: string;
}

const STATE = statement<TokenKey & { tenantId: string }>()((db, { tenantId, orgId, reachedName }) =>
  db
    .selectFrom('crm_org as o')
    .leftJoin('crm_token as t', (join) =>
      join
        .onRef('t.tenantId', '=', 'o.tenantId')
        .onRef('t.orgId', '=', 'o.id')
        .on('t.reachedName', '=', reachedName as never),
    )
    .where('o.tenantId', '=', tenantId)
    .where('o.id', '=', orgId)
    .select([
      'o.username as orgUsername',
      'o.sandboxName as ownSandboxName',
      'o.isJitRegistration',
      'o.parentProductionUsername',
      'o.healthStatus',
      'o.healthError',
      'o.healthHint',
      't.id as tokenId',
      't.credential',
      't.accessToken',
      't.instanceUrl',
      't.mintedAt',
      't.username',
      't.platformOrgId',
      't.generation',
      't.credentialVersion',
      't.failure',
      't.apiCallsUsed',
      't.apiCallsMax',
      't.apiCallsAt',
      sql<boolean>`coalesce(t.lease_until > now(), false)`.as('isLeased'),
      // The row was last written when the attempt failed.
      sql<boolean>`coalesce(t.failure is not null and t.updated_at > now() - interval '1 minute', false)`.as(
        'isFailureRecent',
      ),
    ]),
);

/** Undefined for an org that is not registered. */
export async function tokenState({ db, tenantId }: Reads, key: TokenKey) {
  const [state] = await STATE(db, { ...key, tenantId });
  return state;
}

/** An org with its token as stored, secrets encrypted; the token's columns are null before there is one. */
export type TokenState = NonNullable<Awaited<ReturnType<typeof tokenState>>>;

/** The tokens of an org and of its sandboxes without a record; not those of scratch orgs, whose usernames have an `@`. */
export const ownTokens = ({ db, tenantId }: Reads, orgId: string): Promise<TokenKey[]> =>
  db
    .selectFrom('crm_token')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', orgId)
    .where('reachedName', 'not like', '%@%')
    .orderBy('reachedName', 'desc')
    .select(['orgId', 'reachedName'])
    .execute();

interface StoredToken {
  /** Encrypted. */
  accessToken: string;
  instanceUrl: string;
  mintedAt: Date;
  /** Absent: as it was. */
  username?: string;
  platformOrgId?: string;
  /** Encrypted. */
  credential: string | null;
}

/**
 * Ends an attempt with a token; undefined when the lease was lost.
 * @param isLate the lease does not count, only that the credential is still the one that was used: a rotated refresh
 * token made it void, so that whoever has the lease now cannot succeed with it.
 */
export const storeToken = ({ db, tenantId }: Tx, lease: Lease, token: StoredToken, { isLate }: { isLate: boolean }) =>
  db
    .updateTable('crm_token')
    .set((eb) => ({
      ...token,
      failure: null,
      generation: eb('generation', '+', 1),
      leaseId: null,
      leaseUntil: null,
      updatedAt: sql<string>`now()`,
    }))
    .where('tenantId', '=', tenantId)
    .where('id', '=', lease.tokenId)
    .where((eb) =>
      isLate ? eb('credential', 'is not distinct from', lease.credential) : eb('leaseId', '=', lease.leaseId),
    )
    .returning(['username', 'platformOrgId', 'credentialVersion'])
    .executeTakeFirst();

/** What of a stored token is dead after a failed attempt. */
export interface DeadParts {
  accessToken: boolean;
  credential: boolean;
}

/** Ends an attempt without a token; false when the lease was lost. */
export async function storeFailure(
  { db, tenantId }: Tx,
  { tokenId, leaseId }: Lease,
  failure: CrmFailure,
  dead: DeadParts,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('crm_token')
    .set((eb) => ({
      failure: json(failure),
      ...(dead.accessToken && { accessToken: null }),
      ...(dead.credential && { credential: null }),
      generation: eb('generation', '+', 1),
      leaseId: null,
      leaseUntil: null,
      updatedAt: sql<string>`now()`,
    }))
    .where('tenantId', '=', tenantId)
    .where('id', '=', tokenId)
    .where('leaseId', '=', leaseId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Notes how many calls an org has counted. */
export async function storeApiUsage({ db, tenantId }: Tx, { orgId, reachedName }: TokenKey, { used, max }: ApiUsage) {
  await db
    .updateTable('crm_token')
    .set({ apiCallsUsed: used, apiCallsMax: max, apiCallsAt: sql<string>`now()` })
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', orgId)
    .where('reachedName', '=', reachedName)
    .execute();
}

/** Counts the credentials that people gave of an org. */
export async function credentialVersionOf({ db, tenantId }: Tx, orgId: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('crm_token')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', orgId)
    .where('reachedName', '=', '')
    .select('credentialVersion')
    .executeTakeFirst();
  return row?.credentialVersion;
}

/** Replaces what is stored of an org's own token; an attempt that is under way has lost its lease. */
export async function replaceToken(
  { db, tenantId }: Tx,
  orgId: string,
  sealed: (tokenId: string) => Omit<StoredToken, 'username' | 'platformOrgId'>,
): Promise<void> {
  await db
    .insertInto('crm_token')
    .values({ id: newId(), tenantId, orgId })
    .onConflict((conflict) => conflict.columns(['tenantId', 'orgId', 'reachedName']).doNothing())
    .execute();
  const { id } = await db
    .selectFrom('crm_token')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', orgId)
    .where('reachedName', '=', '')
    .select('id')
    .forUpdate()
    .executeTakeFirstOrThrow();
  await db
    .updateTable('crm_token')
    .set((eb) => ({
      ...sealed(id),
      credentialVersion: eb('credentialVersion', '+', 1),
      generation: eb('generation', '+', 1),
      failure: null,
      leaseId: null,
      leaseUntil: null,
      updatedAt: sql<string>`now()`,
    }))
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Makes the token of a sandbox that was not registered that of its new row. */
export async function adoptToken({ db, tenantId }: Tx, from: TokenKey, orgId: string): Promise<void> {
  await db
    .deleteFrom('crm_token')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', orgId)
    .where('reachedName', '=', '')
    .execute();
  await db
    .updateTable('crm_token')
    .set((eb) => ({
      orgId,
      reachedName: '',
      credentialVersion: eb('credentialVersion', '+', 1),
      leaseId: null,
      leaseUntil: null,
    }))
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', from.orgId)
    .where('reachedName', '=', from.reachedName)
    .execute();
}

/** Removes all tokens of an org: they are those of a sandbox that is gone. */
export async function forgetTokens({ db, tenantId }: Tx, orgId: string): Promise<void> {
  await db.deleteFrom('crm_token').where('tenantId', '=', tenantId).where('orgId', '=', orgId).execute();
}

/** Removes the token of a sandbox without a record. @param keptOrgId unless it is that of this org. */
export async function forgetReachedToken(
  { db, tenantId }: Tx,
  { name, production }: { name: string; production: { id: string } },
  keptOrgId?: string,
): Promise<void> {
  const reached = db
    .deleteFrom('crm_token')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', production.id)
    .where('reachedName', '=', name.toLowerCase());
  await (keptOrgId === undefined ? reached : reached.where('platformOrgId', 'is distinct from', keptOrgId)).execute();
}
