import { sql } from 'kysely';
import { secondsAgo } from '../../../kernel/data/conditions.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import type { Database } from '../../../kernel/data/tables.ts';
import type { Tx } from '../../../unit-of-work.ts';
import type { TenantKey } from '../../../kernel/shared/actor.ts';
import type { PackageDefinition } from '../package-rules.ts';
import { tenantSlugOf } from '../../../kernel/tenants/tenants.queries.ts';

type Writes = Pick<Tx, 'db' | 'tenantId'>;

const now = sql<string>`clock_timestamp()`;

/** Requests a fetch; the mirror's workflow and the sweeper read the row. */
export async function requestFetch({ db, tenantId }: Writes, projectId: string): Promise<void> {
  await db
    .insertInto('git_mirror')
    .values({ tenantId, projectId })
    .onConflict((conflict) => conflict.columns(['tenantId', 'projectId']).doUpdateSet({ requestedAt: now }))
    .execute();
}

/** Records that a fetch begins, and returns what it needs of its project; undefined when the project is gone. */
export const beginFetch = ({ db, tenantId }: Writes, projectId: string) =>
  db
    .with('begun', (inner) =>
      inner
        .insertInto('git_mirror')
        .columns(['tenantId', 'projectId', 'attemptedAt'])
        .expression((eb) =>
          eb
            .selectFrom('project')
            .where('tenantId', '=', tenantId)
            .where('id', '=', projectId)
            .select(['tenantId', 'id', now.as('attempted_at')]),
        )
        .onConflict((conflict) => conflict.columns(['tenantId', 'projectId']).doUpdateSet({ attemptedAt: now }))
        .returning(['projectId', 'workItemFilters', 'attributedBranch', 'messageRules', 'packagesFrom', 'error']),
    )
    .selectFrom('begun')
    .innerJoin('project as p', (join) => join.on('p.tenantId', '=', tenantId).onRef('p.id', '=', 'begun.projectId'))
    .select([
      'p.identifier as repositoryIdentifier',
      'p.remoteUrl',
      'p.platform',
      'p.defaultBranch',
      'p.configuration',
      'begun.workItemFilters',
      'begun.attributedBranch',
      'begun.messageRules',
      'begun.packagesFrom',
      'begun.error as errorBefore',
    ])
    .executeTakeFirst();

export type FetchedProject = NonNullable<Awaited<ReturnType<typeof beginFetch>>>;

/** Locks out other imports of the project until this transaction ends; returns how many commits are imported. */
export const lockMirror = ({ db, tenantId }: Writes, projectId: string) =>
  db
    .selectFrom('git_mirror')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .forUpdate()
    .select('commits')
    .executeTakeFirst();

const updateMirror = ({ db, tenantId }: Writes, projectId: string) =>
  db.updateTable('git_mirror').where('tenantId', '=', tenantId).where('projectId', '=', projectId);

/** Bumps what readers compare to know whether their facts are still the current ones. */
export async function bumpRevision(tx: Writes, projectId: string): Promise<void> {
  await updateMirror(tx, projectId)
    .set((eb) => ({ revision: eb('revision', '+', '1') }))
    .execute();
}

/** Records where the packages of a project are listed. */
export async function notePackagesFrom(
  tx: Writes,
  projectId: string,
  packagesFrom: FetchedProject['packagesFrom'],
): Promise<void> {
  await updateMirror(tx, projectId).set({ packagesFrom }).execute();
}

/** The wait after the first failure; each further one doubles it, up to an hour. */
const RETRY_SECONDS = 30;

/** Records that the remote could not be read; what is imported stays. */
export async function noteFailure(tx: Writes, projectId: string, error: string): Promise<void> {
  await updateMirror(tx, projectId)
    .set((eb) => ({
      error,
      completedAt: now,
      failures: eb('failures', '+', 1),
      nextFetchAt: sql<string>`clock_timestamp() + make_interval(secs => least(3600, ${sql.lit(RETRY_SECONDS)} * 2 ^ least(failures, 10)))`,
    }))
    .execute();
}

/** Records that the facts are those of the remote at `fetchedAt`; the next fetch is due after `everySeconds`. */
export async function noteSuccess(tx: Writes, projectId: string, fetchedAt: Date, everySeconds: number): Promise<void> {
  await updateMirror(tx, projectId)
    .set({
      error: null,
      completedAt: now,
      failures: 0,
      fetchedAt,
      nextFetchAt: sql<string>`clock_timestamp() + make_interval(secs => ${everySeconds})`,
    })
    .execute();
}

/** How far the facts of a repository can be relied on. */
export interface MirrorFreshness {
  /** When the remote was last read with success; null: never. */
  fetchedAt: string | null;
  /** The last fetch failed: the facts are those of `fetchedAt`. */
  isStale: boolean;
  /** Why it failed. */
  error: string | null;
}

export const NEVER_FETCHED: MirrorFreshness = { fetchedAt: null, isStale: true, error: null };

const isStale = sql<boolean>`fetched_at is null or error is not null`.as('isStale');

/** A fetch is requested and has not begun, or is under way. */
const isFetching = sql<boolean>`(m.attempted_at is null or m.requested_at > m.attempted_at or coalesce(m.completed_at < m.attempted_at, true))`;

/** How fresh the facts of a project are, and on what they rest; `revision` is null when no fetch was ever requested. */
export const mirrorState = ({ db, tenantId }: Reads, projectId: string) =>
  db
    .selectFrom('project as p')
    .leftJoin('git_mirror as m', (join) =>
      join.onRef('m.tenantId', '=', 'p.tenantId').onRef('m.projectId', '=', 'p.id'),
    )
    .where('p.tenantId', '=', tenantId)
    .where('p.id', '=', projectId)
    .select([
      'm.revision',
      'm.workItemsEpoch',
      'm.attributedBranch',
      'm.fetchedAt',
      'm.error',
      isStale,
      sql<boolean>`p.remote_url is not null`.as('hasRemote'),
      isFetching.as('isFetching'),
      'm.attemptedAt as lastTriedAt',
    ])
    .executeTakeFirst();

/** The mirror of a project as operators see it; undefined when no fetch was ever requested. */
export const mirrorReport = ({ db, tenantId }: Reads, projectId: string) =>
  db
    .selectFrom('git_mirror as m')
    .where('m.tenantId', '=', tenantId)
    .where('m.projectId', '=', projectId)
    .select([
      'm.fetchedAt',
      'm.error',
      isStale,
      'm.requestedAt',
      'm.attemptedAt',
      'm.nextFetchAt',
      'm.failures',
      'm.commits',
      'm.packagesFrom',
    ])
    .select((eb) => {
      const counted = (kind: 'branch' | 'tag') =>
        eb
          .selectFrom('git_ref as r')
          .whereRef('r.tenantId', '=', 'm.tenantId')
          .whereRef('r.projectId', '=', 'm.projectId')
          .where('r.kind', '=', kind)
          .select(sql<number>`count(*)::int`.as('count'))
          .$asScalar()
          .$notNull();
      return [counted('branch').as('branches'), counted('tag').as('tags')];
    })
    .select(
      sql<PackageDefinition[]>`(
        select coalesce(jsonb_agg(jsonb_build_object('name', name, 'path', path, 'versionNumber', version_number, 'dependencies', dependencies) order by name), '[]')
        from git_package p where p.tenant_id = m.tenant_id and p.project_id = m.project_id and is_current)`.as(
        'packages',
      ),
    )
    .executeTakeFirst();

export interface DueMirror extends TenantKey {
  projectId: string;
  repositoryIdentifier: string;
  /** A requested fetch was not begun; otherwise the mirror is only due for its next fetch. */
  isLost: boolean;
}

/** Mirrors that are due for a fetch, or whose requested fetch has not begun for `overdueSeconds`; across tenants. */
export const dueMirrors = (system: Database, overdueSeconds: number, limit: number): Promise<DueMirror[]> =>
  system
    .selectFrom('project as p')
    .leftJoin('git_mirror as m', (join) =>
      join.onRef('m.tenantId', '=', 'p.tenantId').onRef('m.projectId', '=', 'p.id'),
    )
    .select([
      'p.tenantId',
      tenantSlugOf('p.tenantId'),
      'p.id as projectId',
      'p.identifier as repositoryIdentifier',
      sql<boolean>`coalesce(m.requested_at > m.attempted_at, true)`.as('isLost'),
    ])
    .where('p.remoteUrl', 'is not', null)
    .where((eb) => {
      const overdue = secondsAgo(overdueSeconds);
      const wasNeverRequested = eb('m.requestedAt', 'is', null);
      const wasRequestedLongAgo = eb('m.requestedAt', '<', overdue);
      return eb.or([
        eb.and([eb('m.attemptedAt', 'is', null), eb.or([wasNeverRequested, wasRequestedLongAgo])]),
        eb.and([eb('m.nextFetchAt', '<=', sql<string>`now()`), eb('m.attemptedAt', '<', overdue)]),
        eb.and([eb('m.requestedAt', '>', eb.ref('m.attemptedAt')), wasRequestedLongAgo]),
      ]);
    })
    .orderBy('m.nextFetchAt', (order) => order.asc().nullsFirst())
    .limit(limit)
    .execute();
