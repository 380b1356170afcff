import { sql } from 'kysely';
import { statement } from '../../kernel/data/statement.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { Actor, Role } from '../../kernel/shared/actor.ts';
import type { CollectionNames } from '../../kernel/shared/collection-limit-rules.ts';

interface PresentRow {
  /** The number of the actor among those asked for, from 1. */
  request: number;
  role: Role;
  repositories: string[] | null;
  collectionNames: CollectionNames | null;
}

const PRESENT = statement<{ asked: string }>()((db, { asked }) =>
  db
    .selectFrom(sql<PresentRow>`auth_present(${asked}::jsonb)`.as('p'))
    .select(['p.request', 'p.role', 'p.repositories', 'p.collectionNames']),
);

/** A person or an application as its tenant has it now. */
export interface PresentActor {
  actor: Actor;
  /** Identifiers of the only repositories that it reaches; undefined: all of its tenant. */
  repositories: ReadonlySet<string> | undefined;
}

/**
 * People and applications of any tenants as they are now, in one query, for what outlives a request; undefined for one
 * that may act no longer: a token that was revoked or has expired, a session that has ended, no member any more.
 * @param database with the application's role, outside any tenant.
 */
export async function presentActors(
  database: Database,
  actors: readonly Actor[],
): Promise<(PresentActor | undefined)[]> {
  const asked = actors.map(({ type, id, tenantId, sessionId }) => ({ type, id, tenantId, sessionId }));
  const found: (PresentActor | undefined)[] = actors.map(() => undefined);
  for (const { request, role, repositories, collectionNames } of await PRESENT(database, {
    asked: JSON.stringify(asked),
  })) {
    const actor = actors[request - 1];
    if (!actor) continue;
    found[request - 1] = {
      actor: { ...actor, role, ...(collectionNames && { collections: collectionNames }) },
      repositories: repositories ? new Set(repositories) : undefined,
    };
  }
  return found;
}
