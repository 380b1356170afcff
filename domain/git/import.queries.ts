import type { Tx } from '../unit-of-work.ts';
import type { ParentBits } from './revision-walk-rules.ts';
import type { Ref } from './git-mirrors.port.ts';
import type { PackageDefinition } from './package-rules.ts';

export interface NewCommitFacts {
  sha: string;
  parents: readonly string[];
  authorName: string;
  authorEmail: string;
  /** ISO 8601. */
  authoredAt: string;
  committedAt: string;
  subject: string;
  body: string;
  workItems: readonly string[];
  pullRequests: readonly number[];
}

export interface KnownPackage extends PackageDefinition {
  packageNo: number;
}

/** Package to commit (by its place among those added) to the bits of parents from which it differs. */
type ChangesByPackage = ReadonlyMap<number, ReadonlyMap<number, ParentBits>>;

export const currentPackages = (
  { sql, tenantId }: Pick<Tx, 'sql' | 'tenantId'>,
  projectId: string,
): Promise<KnownPackage[]> =>
  sql(
    `select package_no as "packageNo", name, path, version_number as "versionNumber"
     from git_package where tenant_id = ? and project_id = ? and is_current order by package_no`,
    [tenantId, projectId],
  );

export const currentRefs = ({ sql, tenantId }: Pick<Tx, 'sql' | 'tenantId'>, projectId: string): Promise<Ref[]> =>
  sql('select kind, name, sha from git_ref where tenant_id = ? and project_id = ? order by kind, name', [
    tenantId,
    projectId,
  ]);

/** Holds off other imports of the project until this transaction ends. */
const lockMirror = ({ sql, tenantId }: Tx, projectId: string) =>
  sql<{ commits: number }>('select commits from git_mirror where tenant_id = ? and project_id = ? for update', [
    tenantId,
    projectId,
  ]);

/**
 * Adds commits behind those that are there; parents stand before children, among them or there already. Those that
 * are known are left out, so that it may be repeated.
 */
export async function addCommits(
  tx: Tx,
  projectId: string,
  commits: readonly NewCommitFacts[],
  changes: ChangesByPackage,
): Promise<void> {
  const [mirror] = await lockMirror(tx, projectId);
  if (!mirror) return;
  const { sql, tenantId } = tx;
  const mentioned = [...new Set(commits.flatMap(({ sha, parents }) => [sha, ...parents]))];
  const known = await sql<{ sha: string; seq: number }>(
    'select sha, seq from git_commit where tenant_id = ? and project_id = ? and sha in (select jsonb_array_elements_text(?::jsonb))',
    [tenantId, projectId, JSON.stringify(mentioned)],
  );
  const seqOf = new Map(known.map(({ sha, seq }) => [sha, seq]));
  const rows: object[] = [];
  const seqOfPlace = new Map<number, number>();
  for (const [place, { sha, parents, ...facts }] of commits.entries()) {
    if (seqOf.has(sha)) continue;
    const seq = mirror.commits + rows.length;
    seqOf.set(sha, seq);
    seqOfPlace.set(place, seq);
    // A parent that a shallow remote does not have is none.
    rows.push({ seq, sha, parents: parents.flatMap((parent) => seqOf.get(parent) ?? []), ...facts });
  }
  if (rows.length === 0) return;
  await sql(
    `insert into git_commit (tenant_id, project_id, seq, sha, parents, author_name, author_email, authored_at, committed_at, subject, body, work_items, pull_requests)
     select ?, ?, seq, sha, parents, "authorName", "authorEmail", "authoredAt", "committedAt", subject, body, "workItems", "pullRequests"
     from jsonb_to_recordset(?::jsonb) as c (seq int, sha text, parents int[], "authorName" text, "authorEmail" text,
       "authoredAt" timestamptz, "committedAt" timestamptz, subject text, body text, "workItems" text[], "pullRequests" int[])`,
    [tenantId, projectId, JSON.stringify(rows)],
  );
  const bySeq = [...changes].map(
    ([packageNo, ofPackage]) =>
      [
        packageNo,
        new Map(
          [...ofPackage].flatMap(([place, bits]) =>
            seqOfPlace.has(place) ? [[seqOfPlace.get(place) ?? 0, bits] as const] : [],
          ),
        ),
      ] as const,
  );
  await insertChanges(tx, projectId, new Map(bySeq));
  await sql('update git_mirror set commits = ?, revision = revision + 1 where tenant_id = ? and project_id = ?', [
    mirror.commits + rows.length,
    tenantId,
    projectId,
  ]);
}

async function insertChanges(
  { sql, tenantId }: Tx,
  projectId: string,
  changes: ReadonlyMap<number, ReadonlyMap<number, ParentBits>>,
): Promise<void> {
  const rows = [...changes].flatMap(([packageNo, ofPackage]) =>
    [...ofPackage].map(([seq, bits]) => [packageNo, seq, String(bits)]),
  );
  if (rows.length === 0) return;
  await sql(
    `insert into git_commit_package (tenant_id, project_id, package_no, seq, parent_bits)
     select ?, ?, (row -> 0)::int, (row -> 1)::int, (row ->> 2)::bigint from jsonb_array_elements(?::jsonb) row
     on conflict (tenant_id, project_id, package_no, seq) do nothing`,
    [tenantId, projectId, JSON.stringify(rows)],
  );
}

/** Replaces the facts of which branches and tags there are. Answers whether anything was different. */
export async function replaceRefs({ sql, tenantId }: Tx, projectId: string, refs: readonly Ref[]): Promise<boolean> {
  const [changed] = await sql<{ count: number }>(
    `with wanted as (select kind, name, sha from jsonb_to_recordset(?::jsonb) as r (kind text, name text, sha text)),
     gone as (
       delete from git_ref r where tenant_id = ? and project_id = ?
         and not exists (select from wanted w where (w.kind, w.name) = (r.kind, r.name)) returning 1),
     put as (
       insert into git_ref as r (tenant_id, project_id, kind, name, sha) select ?, ?, kind, name, sha from wanted
       on conflict (tenant_id, project_id, kind, name) do update set sha = excluded.sha where r.sha <> excluded.sha returning 1)
     select ((select count(*) from gone) + (select count(*) from put))::int as count`,
    [JSON.stringify(refs), tenantId, projectId, tenantId, projectId],
  );
  return (changed?.count ?? 0) > 0;
}

/** Bumps what readers compare to know whether the facts are still those they had. */
export async function bumpRevision({ sql, tenantId }: Tx, projectId: string): Promise<void> {
  await sql('update git_mirror set revision = revision + 1 where tenant_id = ? and project_id = ?', [
    tenantId,
    projectId,
  ]);
}

/** The new ones among definitions: a package that moved to another path counts as new. */
export const unknownPackages = (
  known: readonly KnownPackage[],
  wanted: readonly PackageDefinition[],
): PackageDefinition[] =>
  wanted.filter(({ name, path }) => !known.some((each) => each.name === name && each.path === path));

/** Numbers for packages that are not known yet, which nobody else gets. */
export async function reservePackageNumbers(
  tx: Tx,
  projectId: string,
  packages: readonly PackageDefinition[],
): Promise<KnownPackage[]> {
  await lockMirror(tx, projectId);
  const [row] = await tx.sql<{ next: number }>(
    'select coalesce(max(package_no) + 1, 0)::int as next from git_package where tenant_id = ? and project_id = ?',
    [tx.tenantId, projectId],
  );
  return packages.map((each, index) => ({ ...each, packageNo: (row?.next ?? 0) + index }));
}

/**
 * Makes the packages of a project those that are wanted. Those with new numbers come with their changes in all commits
 * (by number); the others go.
 */
export async function replacePackages(
  tx: Tx,
  projectId: string,
  wanted: readonly PackageDefinition[],
  added: readonly KnownPackage[],
  changes: ReadonlyMap<number, ReadonlyMap<number, ParentBits>>,
): Promise<void> {
  const { sql, tenantId } = tx;
  await lockMirror(tx, projectId);
  const definitions = JSON.stringify(wanted);
  const retired = await sql<{ packageNo: number }>(
    `update git_package p set is_current = false where tenant_id = ? and project_id = ? and is_current
       and not exists (select from jsonb_to_recordset(?::jsonb) as w (name text, path text) where (w.name, w.path) = (p.name, p.path))
     returning package_no as "packageNo"`,
    [tenantId, projectId, definitions],
  );
  for (const table of ['git_commit_package', 'git_range']) {
    await sql(
      `delete from ${table} where tenant_id = ? and project_id = ? and package_no in (select jsonb_array_elements_text(?::jsonb)::int)`,
      [tenantId, projectId, JSON.stringify(retired.map(({ packageNo }) => packageNo))],
    );
  }
  await sql(
    `insert into git_package (tenant_id, project_id, package_no, name, path)
     select ?, ?, "packageNo", name, path from jsonb_to_recordset(?::jsonb) as a ("packageNo" int, name text, path text)`,
    [tenantId, projectId, JSON.stringify(added)],
  );
  await sql(
    `update git_package p set version_number = w."versionNumber"
     from jsonb_to_recordset(?::jsonb) as w (name text, "versionNumber" text)
     where p.tenant_id = ? and p.project_id = ? and p.is_current and p.name = w.name and p.version_number is distinct from w."versionNumber"`,
    [definitions, tenantId, projectId],
  );
  await insertChanges(tx, projectId, changes);
  await bumpRevision(tx, projectId);
}

export const notePackagesFrom = ({ sql, tenantId }: Tx, projectId: string, from: string) =>
  sql('update git_mirror set packages_from = ? where tenant_id = ? and project_id = ?', [from, tenantId, projectId]);

/** Ids and parents of the commits from a number on, in order. */
export const commitLines = (
  { sql, tenantId }: Pick<Tx, 'sql' | 'tenantId'>,
  projectId: string,
  from: number,
  count: number,
) =>
  sql<{ seq: number; sha: string; parents: string[] }>(
    `select c.seq, c.sha, array(select p.sha from unnest(c.parents) with ordinality as of (seq, place)
        join git_commit p on p.tenant_id = c.tenant_id and p.project_id = c.project_id and p.seq = of.seq order by place) as parents
     from git_commit c where c.tenant_id = ? and c.project_id = ? and c.seq >= ? order by c.seq limit ?`,
    [tenantId, projectId, from, count],
  );

/** Messages of the commits from a number on, in order. */
export const commitMessages = (
  { sql, tenantId }: Pick<Tx, 'sql' | 'tenantId'>,
  projectId: string,
  from: number,
  count: number,
) =>
  sql<{ seq: number; subject: string; body: string }>(
    'select seq, subject, body from git_commit where tenant_id = ? and project_id = ? and seq >= ? order by seq limit ?',
    [tenantId, projectId, from, count],
  );

/** Replaces the work items of commits, by number. */
export const setWorkItems = (
  { sql, tenantId }: Tx,
  projectId: string,
  items: readonly { seq: number; workItems: readonly string[] }[],
) =>
  sql(
    `update git_commit c set work_items = i."workItems" from jsonb_to_recordset(?::jsonb) as i (seq int, "workItems" text[])
     where c.tenant_id = ? and c.project_id = ? and c.seq = i.seq and c.work_items <> i."workItems"`,
    [JSON.stringify(items), tenantId, projectId],
  );

/** Notes by which expressions work items were found; ranges that were computed with others go. */
export async function noteFilters(tx: Tx, projectId: string, filters: readonly string[]): Promise<void> {
  const { sql, tenantId } = tx;
  await sql('delete from git_range where tenant_id = ? and project_id = ?', [tenantId, projectId]);
  await sql(
    'update git_mirror set work_item_filters = ?::jsonb, work_items_epoch = work_items_epoch + 1 where tenant_id = ? and project_id = ?',
    [JSON.stringify(filters), tenantId, projectId],
  );
  await bumpRevision(tx, projectId);
}
