import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Actor, Role } from '../../kernel/shared/actor.ts';
import type { AssuranceLevel } from './access-tokens.ts';
import { findPeople } from './credentials.queries.ts';

export interface Standing {
  /** Slugs of all tenants of which the person is a member. */
  tenants: string[];
  /** In this tenant, by team. */
  memberships: { team: string; role: Role }[];
  /** Null for a credential without a session. */
  session: { aal: AssuranceLevel; expiresAt: string } | null;
}

/** Where a person who acts is a member, and with what session the person acts. */
export async function standingOf({ db, tenantId }: Reads, { id, email, sessionId }: Actor): Promise<Standing> {
  const memberships = await db
    .selectFrom('membership as m')
    .innerJoin('team as t', (join) => join.onRef('t.tenantId', '=', 'm.tenantId').onRef('t.id', '=', 'm.teamId'))
    .where('m.tenantId', '=', tenantId)
    .where('m.userId', '=', id)
    .orderBy('t.slug')
    .select(['t.slug as team', 'm.role'])
    .execute();
  const session =
    sessionId === undefined
      ? undefined
      : await db
          .selectFrom('auth_session')
          .where('tenantId', '=', tenantId)
          .where('id', '=', sessionId)
          .select(['aal', 'expiresAt'])
          .executeTakeFirst();
  const [person] = await findPeople(db, { emails: [email] });
  return { tenants: person?.tenants.toSorted() ?? [], memberships, session: session ?? null };
}
