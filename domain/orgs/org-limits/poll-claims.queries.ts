import { sql } from 'kysely';
import { batch } from '../../kernel/data/batches.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { statement } from '../../kernel/data/statement.ts';
import type { Database, ReadDatabase } from '../../kernel/data/tables.ts';
import type { TenantKey } from '../../kernel/shared/actor.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';
import type { Tx } from '../../unit-of-work.ts';

/** Longer than a poll takes: a poll in a process that died is repeated after this at the latest. */
const LEASE_SECONDS = 180;
const FORCED_EVERY_SECONDS = 60;

/** An org that one process polls; another claim makes this one void. */
export interface ClaimedOrg {
  orgId: string;
  claim: number;
}

const LEASED_UNTIL = sql<string>`now() + make_interval(secs => ${sql.lit(LEASE_SECONDS)})`;
/** The lease is that of a forced poll: both began in one statement. */
const IS_FORCED = sql<boolean>`
  coalesce(lease_until = forced_at + make_interval(secs => ${sql.lit(LEASE_SECONDS)}), false)`;

// An org that was found to work again since its last poll failed need not wait.
const IS_DUE = sql<boolean>`
  (s.due_at <= now() or (s.failures > 0 and o.health_status = 'ok' and o.health_checked_at > s.attempted_at))
  and o.health_status <> 'auth_failed' and (s.lease_until is null or s.lease_until <= now())`;

const statesWithOrgs = (db: ReadDatabase) =>
  db
    .selectFrom('org_limit_state as s')
    .innerJoin('crm_org as o', (join) => join.onRef('o.tenantId', '=', 's.tenantId').onRef('o.id', '=', 's.orgId'));

const CLAIM = statement<{ tenantId: string; limit: number }>()((db, { tenantId, limit }) =>
  db
    .updateTable('org_limit_state as claimed')
    .from(
      statesWithOrgs(db)
        .where('s.tenantId', '=', tenantId)
        .where(IS_DUE)
        // Orgs that answer do not wait for those that may hang.
        .orderBy(sql`s.failures > 0`)
        .orderBy('s.dueAt')
        .limit(limit)
        .forUpdate('s')
        .skipLocked()
        .select('s.orgId')
        .as('due'),
    )
    .set((eb) => ({ claims: eb('claimed.claims', '+', 1), leaseUntil: LEASED_UNTIL }))
    .where('claimed.tenantId', '=', tenantId)
    .whereRef('claimed.orgId', '=', 'due.orgId')
    .returning(['claimed.orgId', 'claimed.claims as claim']),
);

/** Statements of the role of the system, which claims for all tenants. */
export type PollClaims = ReturnType<typeof createPollClaims>;

export const createPollClaims = (system: Database) => ({
  claim: ({ tenantId }: TenantKey, limit: number): Promise<ClaimedOrg[]> => CLAIM(system, { tenantId, limit }),

  /** Gives claims back whose poll came to nothing. */
  async release({ tenantId }: TenantKey, orgs: readonly ClaimedOrg[]): Promise<void> {
    await system
      .updateTable('org_limit_state as s')
      .from(batch('mine', orgs, { orgId: 'uuid', claim: 'int' }))
      .set({ leaseUntil: null })
      .where('s.tenantId', '=', tenantId)
      .whereRef('s.orgId', '=', 'mine.orgId')
      .whereRef('s.claims', '=', 'mine.claim')
      .execute();
  },

  /** Gives back all that a lost pump of the tenant held; what it may still learn is void. Forced polls are not its own. */
  async releaseAll({ tenantId }: TenantKey): Promise<void> {
    await system
      .updateTable('org_limit_state')
      .set((eb) => ({ leaseUntil: null, claims: eb('claims', '+', 1) }))
      .where('tenantId', '=', tenantId)
      .where('leaseUntil', 'is not', null)
      .where(sql<boolean>`not ${IS_FORCED}`)
      .execute();
  },

  /** Registered orgs have a state from now on, and are due at once. */
  async addMissing(): Promise<void> {
    await system
      .insertInto('org_limit_state')
      .columns(['tenantId', 'orgId'])
      .expression((eb) =>
        eb
          .selectFrom('crm_org as o')
          .leftJoin('org_limit_state as s', (join) =>
            join.onRef('s.tenantId', '=', 'o.tenantId').onRef('s.orgId', '=', 'o.id'),
          )
          .where('s.orgId', 'is', null)
          .select(['o.tenantId', 'o.id']),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  },

  /** Tenants with orgs to poll. */
  dueTenants: (limit: number): Promise<TenantKey[]> =>
    system
      .selectFrom(statesWithOrgs(system).where(IS_DUE).select('s.tenantId').distinct().limit(limit).as('due'))
      .select(['due.tenantId', tenantSlugOf('due.tenantId')])
      .execute(),
});

/** Claims one org for somebody who waits; undefined while another process polls it, and within a minute of such a claim. */
export async function claimNow({ db, tenantId }: Tx, orgId: string): Promise<ClaimedOrg | undefined> {
  const now = sql<string>`now()`;
  const row = await db
    .insertInto('org_limit_state')
    .values({ tenantId, orgId, claims: 1, leaseUntil: LEASED_UNTIL, forcedAt: now })
    .onConflict((conflict) =>
      conflict
        .columns(['tenantId', 'orgId'])
        .doUpdateSet((eb) => ({
          claims: eb('org_limit_state.claims', '+', 1),
          leaseUntil: LEASED_UNTIL,
          forcedAt: now,
        }))
        .where(
          sql<boolean>`coalesce(org_limit_state.lease_until <= now(), true)
            and coalesce(org_limit_state.forced_at <= now() - make_interval(secs => ${sql.lit(FORCED_EVERY_SECONDS)}), true)`,
        ),
    )
    .returning(['orgId', 'claims as claim'])
    .executeTakeFirst();
  return row;
}

/** Gives a claim back whose poll came to nothing; the next forced poll need not wait. */
export const releaseNow = ({ db, tenantId }: Tx, { orgId, claim }: ClaimedOrg) =>
  db
    .updateTable('org_limit_state')
    .set({ leaseUntil: null, forcedAt: null })
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', orgId)
    .where('claims', '=', claim)
    .execute();

/** Whether somebody polls an org now, and why its last poll failed. */
export const pollUnderWay = ({ db, tenantId }: Reads, orgId: string) =>
  db
    .selectFrom('org_limit_state')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', orgId)
    .select([sql<boolean>`coalesce(lease_until > now(), false)`.as('isLeased'), 'failure'])
    .executeTakeFirst();

/**
 * The states of those orgs whose claim still holds and was not used, locked until the transaction ends. The orgs are locked first, in the
 * order in which a deletion locks them.
 */
export async function claimedStates({ db, tenantId }: Tx, claimed: readonly ClaimedOrg[]) {
  const ids = claimed.map(({ orgId }) => orgId);
  const orgs = await db
    .selectFrom('crm_org as o')
    .where('o.tenantId', '=', tenantId)
    .where('o.id', '=', sql<string>`any (${ids}::uuid[])`)
    .orderBy('o.id')
    .forNoKeyUpdate()
    .select(['o.id', 'o.username'])
    .execute();
  const states = await db
    .selectFrom('org_limit_state as s')
    .innerJoin(batch('mine', claimed, { orgId: 'uuid', claim: 'int' }), (join) =>
      join.onRef('mine.orgId', '=', 's.orgId').onRef('mine.claim', '=', 's.claims'),
    )
    .where('s.tenantId', '=', tenantId)
    // What is recorded again, because the answer of the database was lost, counts once.
    .where('s.leaseUntil', 'is not', null)
    .orderBy('s.orgId')
    .forUpdate('s')
    .select(['s.orgId', 's.failures', 's.limits'])
    .execute();
  const usernames = new Map(orgs.map(({ id, username }) => [id, username]));
  return states.flatMap((state) => {
    const username = usernames.get(state.orgId);
    return username === undefined ? [] : [{ ...state, username }];
  });
}
