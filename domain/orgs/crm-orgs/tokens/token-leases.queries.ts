import { sql } from 'kysely';
import { newId } from '../../../kernel/shared/ids.ts';
import type { Tx } from '../../../unit-of-work.ts';
import type { TokenKey } from './crm-tokens.queries.ts';

const secondsAhead = (ms: number) => sql<string>`now() + make_interval(secs => ${ms / 1_000})`;

/** The right to be the only one who works with a token, for a while. */
export interface Lease {
  tokenId: string;
  leaseId: string;
  /** Encrypted. */
  credential: string | null;
  credentialVersion: number;
}

/**
 * Takes the lease of a token that is as it was read; undefined when somebody else has it, or has minted since.
 * @param generation that was read.
 */
export async function takeLease(
  { db, tenantId }: Tx,
  { orgId, reachedName }: TokenKey,
  generation: number,
  leaseMs: number,
): Promise<Lease | undefined> {
  const leaseId = newId();
  const row = await db
    .insertInto('crm_token')
    .values({ id: newId(), tenantId, orgId, reachedName, leaseId, leaseUntil: secondsAhead(leaseMs) })
    .onConflict((conflict) =>
      conflict
        .columns(['tenantId', 'orgId', 'reachedName'])
        .doUpdateSet({ leaseId, leaseUntil: secondsAhead(leaseMs) })
        .where('crm_token.generation', '=', generation)
        .where(sql<boolean>`coalesce(crm_token.lease_until <= now(), true)`),
    )
    .returning(['id', 'credential', 'credentialVersion'])
    .executeTakeFirst();
  return row && { tokenId: row.id, leaseId, credential: row.credential, credentialVersion: row.credentialVersion };
}

/** Holds a lease for its full time from now on; false when it was lost. */
export async function holdLease({ db, tenantId }: Tx, { tokenId, leaseId }: Lease, leaseMs: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('crm_token')
    .set({ leaseUntil: secondsAhead(leaseMs) })
    .where('tenantId', '=', tenantId)
    .where('id', '=', tokenId)
    .where('leaseId', '=', leaseId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Gives a lease back; nothing was learnt. */
export async function freeLease({ db, tenantId }: Tx, { tokenId, leaseId }: Lease): Promise<void> {
  await db
    .updateTable('crm_token')
    .set({ leaseId: null, leaseUntil: null })
    .where('tenantId', '=', tenantId)
    .where('id', '=', tokenId)
    .where('leaseId', '=', leaseId)
    .execute();
}
