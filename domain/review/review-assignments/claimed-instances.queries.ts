import { sql } from 'kysely';
import { statement } from '../../kernel/data/statement.ts';
import type { Tx } from '../../unit-of-work.ts';

export interface ClaimedInstance {
  id: string;
  username: string;
  instanceUrl: string | null;
  expiresAt: string | null;
}

const CLAIM = statement<{ tenantId: string; poolId: string; until: string }>()(
  (_db, { tenantId, poolId, until }) => sql<ClaimedInstance>`
    update review_instance set state = 'assigned', reason = null, state_changed_at = clock_timestamp(), updated_at = now()
    where tenant_id = ${tenantId} and id = (
      select id from review_instance
      where tenant_id = ${tenantId} and pool_id = ${poolId} and state = 'available'
        and (expires_at is null or expires_at > clock_timestamp())
      order by coalesce(expires_at, 'infinity') < ${until}::timestamptz,
        case when coalesce(expires_at, 'infinity') >= ${until}::timestamptz then expires_at end,
        expires_at desc nulls last, id
      limit 1 for update skip locked)
    returning id, username, instance_url as "instanceUrl", expires_at as "expiresAt"`,
);

/**
 * Takes an available org of the pool: of those that live until then the one that ends first, else the one that lives
 * longest. Undefined: none is available.
 * @param until ISO 8601, or `infinity`.
 */
export async function claimInstance(
  { db, tenantId }: Tx,
  poolId: string,
  until: string,
): Promise<ClaimedInstance | undefined> {
  const [claimed] = await CLAIM(db, { tenantId, poolId, until });
  return claimed;
}
