import { sql } from 'kysely';
import { statement } from '../data/statement.ts';
import type { Database } from '../data/tables.ts';

/** A request that left its key running for longer than this has died; the next one takes the key over, if nothing was done. */
const ABANDONED_SECONDS = 120;
const KEPT_HOURS = 24;

/** The key of a row: per tenant, credential, method and path. */
export interface KeyIdentity {
  tenantId: string;
  subject: string;
  method: string;
  path: string;
  key: string;
}

const CLAIM = statement<KeyIdentity & { bodyHash: string }>()(
  (db, { tenantId, subject, method, path, key, bodyHash }) =>
    db
      .with('claimed', (inner) =>
        inner
          .insertInto('idempotency_key')
          .values({ tenantId, subject, method, path, key, bodyHash })
          .onConflict((conflict) =>
            conflict
              .columns(['tenantId', 'subject', 'method', 'path', 'key'])
              .doUpdateSet((eb) => ({
                startedAt: sql<string>`now()`,
                doneAt: null,
                status: null,
                reply: null,
                bodyHash: eb.ref('excluded.bodyHash'),
              }))
              .where((eb) =>
                eb.or([
                  eb.and([
                    eb('idempotency_key.status', 'is', null),
                    eb('idempotency_key.doneAt', 'is', null),
                    eb(
                      'idempotency_key.startedAt',
                      '<',
                      sql<string>`now() - make_interval(secs => ${sql.lit(ABANDONED_SECONDS)})`,
                    ),
                  ]),
                  eb(
                    'idempotency_key.startedAt',
                    '<',
                    sql<string>`now() - make_interval(hours => ${sql.lit(KEPT_HOURS)})`,
                  ),
                ]),
              ),
          )
          .returning(['bodyHash', 'status', 'reply', 'doneAt']),
      )
      .selectFrom('claimed')
      .select(['bodyHash', 'status', 'reply', 'doneAt', sql<boolean>`true`.as('isMine')])
      .unionAll(
        db
          .selectFrom('idempotency_key')
          .where('tenantId', '=', tenantId)
          .where('subject', '=', subject)
          .where('method', '=', method)
          .where('path', '=', path)
          .where('key', '=', key)
          .where(sql<boolean>`not exists (select from claimed)`)
          .select(['bodyHash', 'status', 'reply', 'doneAt', sql<boolean>`false`.as('isMine')]),
      ),
);

/** Claims a key, or finds who has it; undefined when another request claimed it just now and is not committed yet. */
export async function claimKey(db: Database, identity: KeyIdentity, bodyHash: string) {
  const [row] = await CLAIM(db, { ...identity, bodyHash });
  return row;
}

const KEEP = statement<KeyIdentity & { status: number; reply: string }>()((db, { status, reply, ...identity }) =>
  db
    .updateTable('idempotency_key')
    .set({ status, reply })
    .where((eb) => eb.and(identity)),
);

export async function keepReply(db: Database, identity: KeyIdentity, status: number, reply: string): Promise<void> {
  await KEEP(db, { ...identity, status, reply });
}

const DONE = statement<KeyIdentity>()((db, identity) =>
  db
    .updateTable('idempotency_key')
    .set({ doneAt: sql<string>`now()` })
    .where((eb) => eb.and(identity)),
);

/** In the transaction that does what the request asks for. */
export async function markDone(db: Database, identity: KeyIdentity): Promise<void> {
  await DONE(db, identity);
}

/** In the transaction that undoes what the request has done. */
export async function markUndone(db: Database, identity: KeyIdentity): Promise<void> {
  await db
    .updateTable('idempotency_key')
    .set({ doneAt: null })
    .where((eb) => eb.and({ ...identity }))
    .execute();
}

/** Removes a key whose request has done nothing and has no reply. */
export async function freeKey(db: Database, identity: KeyIdentity): Promise<void> {
  await db
    .deleteFrom('idempotency_key')
    .where((eb) => eb.and({ ...identity }))
    .where('status', 'is', null)
    .where('doneAt', 'is', null)
    .execute();
}
