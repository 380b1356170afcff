import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { INSTALLING_STATUSES } from '../../delivery/deployments/deployments.queries.ts';

/** Reports that are read in full; most packages are in them. The others are looked for in more. */
const REPORTS_READ = 50;
const REPORTS_MAX = 2_000;
const CANDIDATES_MAX = 500;
/** The most failed deployments that are listed. */
const FAILED_MAX = 200;

export interface ReleasedPackage {
  name: string;
  version: string;
  domain: string;
  releaseName: string;
  /** When it was deployed, or finalized. */
  at: string;
  /** Where it was deployed; null: its candidate was finalized without that. */
  environment: string | null;
}

/**
 * The version in which each package was released last, by package: the last that was installed in an environment of
 * category `release` and not taken back, else that of the newest finalized candidate. Of one domain, or of all.
 * @param known packages that are looked for in older deployments and candidates, too.
 */
export async function releasedPackages(
  reads: Reads,
  projectId: string,
  domain: string | undefined,
  known: readonly string[],
): Promise<ReleasedPackage[]> {
  const found = new Map<string, ReleasedPackage>();
  const missing = () => known.filter((name) => !found.has(name));
  const add = (rows: readonly ReleasedPackage[]) => {
    for (const row of rows) if (!found.has(row.name)) found.set(row.name, row);
  };
  add(await deployedPackages(reads, projectId, { domain, names: undefined, limit: REPORTS_READ }));
  if (missing().length > 0)
    add(await deployedPackages(reads, projectId, { domain, names: missing(), limit: REPORTS_MAX }));
  if (missing().length > 0 || found.size === 0) add(await finalizedPackages(reads, projectId, domain));
  return [...found.values()];
}

const isOfDomain = (column: string, domain: string | undefined) =>
  domain === undefined ? sql`true` : sql`${sql.ref(column)} = ${domain}`;

/** Packages that the newest deployments installed: those named, or all. */
async function deployedPackages(
  { db, tenantId }: Reads,
  projectId: string,
  { domain, names, limit }: { domain: string | undefined; names: readonly string[] | undefined; limit: number },
): Promise<ReleasedPackage[]> {
  const { rows } = await sql<ReleasedPackage>`
    with deployed as materialized (
      select d.domain, d.release_name, d.installed, d.deployed_at, d.created_at, d.id, e.name as environment
      from release_deployment d
      join environment e on e.tenant_id = d.tenant_id and e.id = d.environment_id and e.category = 'release'
      where d.tenant_id = ${tenantId} and d.project_id = ${projectId} and d.status in ${INSTALLING_STATUSES}
        and d.rolled_back_at is null and ${isOfDomain('d.domain', domain)}
        and ${names === undefined ? sql`true` : sql`jsonb_exists_any(d.installed, ${names}::text[])`}
      order by d.deployed_at desc, d.id desc limit ${sql.lit(limit)})
    select distinct on (p.key collate "C") p.key as name, p.value as version, d.domain,
      d.release_name as "releaseName", d.deployed_at as at, d.environment
    from deployed d cross join lateral jsonb_each_text(d.installed) p
    where ${names === undefined ? sql`true` : sql`p.key = any (${names}::text[])`}
    order by p.key collate "C", d.deployed_at desc, d.created_at desc, d.id desc`.execute(db);
  return rows;
}

/** Packages of the newest candidates that were finalized. */
async function finalizedPackages(
  { db, tenantId }: Reads,
  projectId: string,
  domain: string | undefined,
): Promise<ReleasedPackage[]> {
  const { rows } = await sql<ReleasedPackage>`
    with finalized as materialized (
      select c.domain, c.release_name, c.value->'artifacts' as installed, c.created_at, c.id,
        coalesce(c.status_changed_at, c.created_at) as at
      from release_candidate c
      where c.tenant_id = ${tenantId} and c.project_id = ${projectId} and c.status = 'finalized'
        and jsonb_typeof(c.value->'artifacts') = 'object' and ${isOfDomain('c.domain', domain)}
      order by c.created_at desc, c.id desc limit ${sql.lit(CANDIDATES_MAX)})
    select distinct on (p.key collate "C") p.key as name, p.value as version, f.domain,
      f.release_name as "releaseName", f.at, null as environment
    from finalized f cross join lateral jsonb_each_text(f.installed) p
    order by p.key collate "C", f.created_at desc, f.id desc`.execute(db);
  return rows;
}

export interface FailedDeployment {
  domain: string;
  releaseName: string;
  environment: string;
  deployedAt: string;
  /** How many there are in all. */
  total: number;
}

/** Deployments that failed, newest first: of each domain those since a time. Of some domains, or of all. */
export async function failedDeployments(
  { db, tenantId }: Reads,
  projectId: string,
  domains: readonly string[] | undefined,
  since: ReadonlyMap<string, string>,
): Promise<FailedDeployment[]> {
  const { rows } = await sql<FailedDeployment>`
    select d.domain, d.release_name as "releaseName", e.name as environment, d.deployed_at as "deployedAt",
      (count(*) over ())::int as total
    from release_deployment d
    join environment e on e.tenant_id = d.tenant_id and e.id = d.environment_id
    left join unnest(${[...since.keys()]}::text[], ${[...since.values()]}::timestamptz[]) as w (domain, at) on w.domain = d.domain
    where d.tenant_id = ${tenantId} and d.project_id = ${projectId} and d.status = 'Failed'
      and ${domains === undefined ? sql`true` : sql`d.domain = any (${domains}::text[])`}
      and d.deployed_at > coalesce(w.at, '-infinity')
    order by d.deployed_at desc, d.id desc limit ${sql.lit(FAILED_MAX)}`.execute(db);
  return rows;
}
