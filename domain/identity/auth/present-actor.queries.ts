import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Actor, Role } from '../../kernel/shared/actor.ts';
import { isId } from '../../kernel/shared/ids.ts';

/**
 * A person or an application as the tenant has it now, for what outlives a request: with the role and the projects of this
 * moment. Undefined: no member any more, a token that was revoked or has expired, a session that has ended, or another kind
 * of actor. @param reads of the actor's tenant.
 */
export async function presentActor({ db, tenantId }: Reads, actor: Actor): Promise<Actor | undefined> {
  const { type, id, sessionId, tenantSlug, email } = actor;
  if (!isId(id)) return undefined;
  const now = { type, id, tenantId, tenantSlug, email };
  if (type === 'application') {
    const token = await db
      .selectFrom('application_token')
      .where('tenantId', '=', tenantId)
      .where('id', '=', id)
      .where('revokedAt', 'is', null)
      .where('expiresAt', '>', sql<string>`now()`)
      .select('projectIds')
      .executeTakeFirst();
    const projectIds = token?.projectIds ?? undefined;
    return token && { ...now, role: 'application', ...(projectIds && { projectIds }) };
  }
  if (type !== 'user') return undefined;
  const { role } = await db
    .selectFrom('membership')
    .where('tenantId', '=', tenantId)
    .where('userId', '=', id)
    .select(sql<Role | null>`(array_agg(role order by role_rank(role) desc))[1]`.as('role'))
    .executeTakeFirstOrThrow();
  if (role === null) return undefined;
  if (sessionId === undefined) return { ...now, role };
  const session = await db
    .selectFrom(sql<{ userId: string }>`auth_sessions(${[sessionId]})`.as('s'))
    .select('s.userId')
    .executeTakeFirst();
  return session?.userId === id ? { ...now, role, sessionId } : undefined;
}
