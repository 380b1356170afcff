import { CompiledQuery } from 'kysely';
import { appendEntries, unchainedEntry } from '../audit/append.queries.ts';
import type { UnchainedEntry } from '../audit/audit-rules.ts';
import { COMMIT_WITH_NEXT } from '../data/dialect.ts';
import { type Actor, systemActor, type TenantKey, tenantOf } from '../shared/actor.ts';
import { batchedPerKey } from '../shared/batched.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

export interface AccessNote {
  actor: Actor;
  requestId: string;
  action: 'credentials_read' | 'front_door_opened';
  /** Row of the org, or of the one through which it was reached. */
  orgId: string;
  summary: string;
  after?: unknown;
}

/** Adds an entry to the audit trail before a credential is handed out. */
export type NoteAccess = (note: AccessNote) => Promise<void>;

/** Entries of one tenant that come together are written in one transaction: each waits for the end of the trail. */
export function createAccessNotes(actingAs: (actor: Actor) => UnitOfWork, now: () => Date): NoteAccess {
  const append = batchedPerKey<TenantKey, UnchainedEntry, undefined>(
    ({ tenantId }) => tenantId,
    async (tenant, entries) => {
      await actingAs(systemActor(tenant, 'crm'))(async ({ db, tenantId }) => {
        await db.executeQuery(CompiledQuery.raw(COMMIT_WITH_NEXT));
        await appendEntries(db, tenantId, entries);
      });
      return entries.map(() => undefined);
    },
  );
  return ({ actor, requestId, action, orgId: entityId, summary, after }) =>
    append(
      tenantOf(actor),
      unchainedEntry(
        { source: 'crm', action: `org.${action}`, entityType: 'crm_org', entityId, summary, after },
        actor,
        requestId,
        now(),
      ),
    );
}
