import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Voter } from './approval-policy-rules.ts';
import type { KnownApprovers } from './approver-warning-rules.ts';

/** Who of a list of approvers is there; of an empty one, the owners. */
export async function knownApprovers({ db, tenantId }: Reads, approvers: readonly string[]): Promise<KnownApprovers> {
  const found =
    approvers.length === 0
      ? sql`select '' as approver, m.user_id from membership m where m.tenant_id = ${tenantId} and m.role = 'owner'`
      : sql`
        select g.approver, m.user_id from unnest(${approvers}::text[]) as g (approver)
        join user_account u on lower(u.email) = lower(g.approver)
        join membership m on m.tenant_id = ${tenantId} and m.user_id = u.id and m.role <> 'application'
        union all
        select g.approver, m.user_id from unnest(${approvers}::text[]) as g (approver)
        join team t on t.tenant_id = ${tenantId} and t.slug = g.approver
        join membership m on m.tenant_id = ${tenantId} and m.team_id = t.id and m.role <> 'application'`;
  const { rows } = await sql<KnownApprovers>`
    select coalesce(array_agg(distinct approver), '{}') as known, count(distinct user_id)::int as people
    from (${found}) as found`.execute(db);
  return rows[0] ?? { known: [], people: 0 };
}

/** The people who may be meant by approvers; by none, the owners. A function of the database: limited tokens see no members. */
export async function possibleVoters({ db }: Reads, approvers: readonly string[]): Promise<Voter[]> {
  const { rows } = await sql<Voter>`
    select id, email, is_owner as "isOwner", is_sole_owner as "isSoleOwner", teams
    from possible_approvers(${approvers}::text[])`.execute(db);
  return rows;
}
