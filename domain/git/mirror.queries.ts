import type { ActorReads } from '../data/fenced-reads.ts';
import type { Platform, ProjectConfiguration } from '../projects/projects.entities.ts';
import type { Tx } from '../unit-of-work.ts';

/** What a fetch has to know of its project; undefined members are unset. */
export interface MirrorState {
  repositoryIdentifier: string;
  remoteUrl: string | null;
  platform: Platform;
  defaultBranch: string;
  configuration: ProjectConfiguration;
  /** How many commits are imported. */
  commits: number;
  workItemFilters: string[];
  packagesFrom: PackagesFrom;
}
export type PackagesFrom = 'manifest' | 'setting' | 'none';

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

/** Asks for a fetch; the row is what the mirror's workflow and the sweep go by. */
export async function requestFetch({ sql, tenantId }: Tx, projectId: string): Promise<void> {
  await sql(
    `insert into git_mirror (tenant_id, project_id) values (?, ?)
     on conflict (tenant_id, project_id) do update set requested_at = clock_timestamp()`,
    [tenantId, projectId],
  );
}

/** The state of a mirror as its fetch begins, which is noted; undefined when the project is gone. */
export async function beginFetch({ sql, tenantId }: Tx, projectId: string): Promise<MirrorState | undefined> {
  const [state] = await sql<MirrorState>(
    `with begun as (
       insert into git_mirror as m (tenant_id, project_id, attempted_at) select ?, id, clock_timestamp() from project where tenant_id = ? and id = ?
       on conflict (tenant_id, project_id) do update set attempted_at = clock_timestamp()
       returning m.project_id, m.commits, m.work_item_filters, m.packages_from)
     select p.identifier as "repositoryIdentifier", p.remote_url as "remoteUrl", p.platform, p.default_branch as "defaultBranch", p.configuration,
       begun.commits, begun.work_item_filters as "workItemFilters", begun.packages_from as "packagesFrom"
     from begun join project p on p.tenant_id = ? and p.id = begun.project_id`,
    [tenantId, tenantId, projectId, tenantId],
  );
  return state;
}

/** The first wait after a failure; each further one doubles it, up to an hour. */
const RETRY_SECONDS = 30;

/** Notes that the remote could not be read; what is imported stays. */
export async function noteFailure({ sql, tenantId }: Tx, projectId: string, reason: string): Promise<void> {
  await sql(
    `update git_mirror set error = ?, failures = failures + 1,
       next_fetch_at = clock_timestamp() + make_interval(secs => least(3600, ${RETRY_SECONDS} * 2 ^ least(failures, 10)))
     where tenant_id = ? and project_id = ?`,
    [reason, tenantId, projectId],
  );
}

/** Notes that the facts are those of the remote at `fetchedAt`. */
export async function noteSuccess(
  { sql, tenantId }: Tx,
  projectId: string,
  fetchedAt: Date,
  everySeconds: number,
): Promise<void> {
  await sql(
    `update git_mirror set error = null, failures = 0, fetched_at = ?, next_fetch_at = clock_timestamp() + make_interval(secs => ?)
     where tenant_id = ? and project_id = ?`,
    [fetchedAt, everySeconds, tenantId, projectId],
  );
}

export interface MirrorReport extends MirrorFreshness {
  requestedAt: string | null;
  attemptedAt: string | null;
  nextFetchAt: string | null;
  failures: number;
  commits: number;
  branches: number;
  tags: number;
  packages: { name: string; path: string; versionNumber: string | null }[];
  packagesFrom: PackagesFrom;
}

/** All that operators ask of a mirror; undefined when none was ever asked for. */
export async function mirrorReport(
  { sql, tenantId }: ActorReads | Tx,
  projectId: string,
): Promise<MirrorReport | undefined> {
  const [report] = await sql<MirrorReport>(
    `select fetched_at as "fetchedAt", fetched_at is null or error is not null as "isStale", error, requested_at as "requestedAt",
       attempted_at as "attemptedAt", next_fetch_at as "nextFetchAt", failures, commits, packages_from as "packagesFrom",
       (select count(*)::int from git_ref r where r.tenant_id = m.tenant_id and r.project_id = m.project_id and kind = 'branch') as branches,
       (select count(*)::int from git_ref r where r.tenant_id = m.tenant_id and r.project_id = m.project_id and kind = 'tag') as tags,
       (select coalesce(jsonb_agg(jsonb_build_object('name', name, 'path', path, 'versionNumber', version_number) order by name), '[]')
        from git_package p where p.tenant_id = m.tenant_id and p.project_id = m.project_id and is_current) as packages
     from git_mirror m where tenant_id = ? and project_id = ?`,
    [tenantId, projectId],
  );
  return report;
}
