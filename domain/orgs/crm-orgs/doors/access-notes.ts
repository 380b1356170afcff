import { sql } from 'kysely';
import { type Appended, appending, appendParameters, unchainedEntry } from '../../../kernel/audit/append.queries.ts';
import type { UnchainedEntry } from '../../../kernel/audit/audit-rules.ts';
import { statement } from '../../../kernel/data/statement.ts';
import type { Database } from '../../../kernel/data/tables.ts';
import type { Actor } from '../../../kernel/shared/actor.ts';
import { batchedPerKey } from '../../../kernel/queues/batched.ts';

export interface AccessNote {
  actor: Actor;
  requestId: string;
  action: 'credentials_read' | 'front_door_opened';
  /** Row of the org, registered or of a review pool, or of the one through which it was reached. */
  orgId: string;
  summary: string;
  after?: unknown;
}

/** Adds an entry to the audit trail before a credential is handed out. */
export type NoteAccess = (note: AccessNote) => Promise<void>;

/** One statement is one transaction and one round trip. */
const APPEND = statement<Appended>()((db, given) =>
  db
    .with(
      (cte) => cte('fenced').materialized(),
      (inner) => inner.selectNoFrom(sql`set_config('app.tenant_id', ${given.tenantId}::text, true)`.as('tenant')),
    )
    .selectFrom('fenced')
    .select(appending(given, 'audit_append')),
);

/**
 * Entries of one tenant that come together are written together: each writer waits for the end of the tenant's trail.
 * @param database connections of the application's role.
 */
export function createAccessNotes(database: Database, now: () => Date): NoteAccess {
  const append = batchedPerKey<string, UnchainedEntry, undefined>(
    (tenantId) => tenantId,
    async (tenantId, entries) => {
      await APPEND(database, appendParameters(tenantId, entries));
      return entries.map(() => undefined);
    },
  );
  return ({ actor, requestId, action, orgId: entityId, summary, after }) =>
    append(
      actor.tenantId,
      unchainedEntry(
        { source: 'crm', action: `org.${action}`, entityType: 'crm_org', entityId, summary, after },
        actor,
        requestId,
        now(),
      ),
    );
}
