import { sql } from 'kysely';
import { batch } from '../../../kernel/data/batches.ts';
import { isOneOf } from '../../../kernel/data/conditions.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import type { Tx } from '../../../unit-of-work.ts';
import type { Ref } from './git-mirrors.port.ts';

/** Branches or tags with their commits, as far as these are imported. */
const refsAtCommits = ({ db, tenantId }: Reads, projectId: string, kind: Ref['kind']) =>
  db
    .selectFrom('git_ref as r')
    .innerJoin('git_commit as c', (join) =>
      join.onRef('c.tenantId', '=', 'r.tenantId').onRef('c.projectId', '=', 'r.projectId').onRef('c.sha', '=', 'r.sha'),
    )
    .where('r.tenantId', '=', tenantId)
    .where('r.projectId', '=', projectId)
    .where('r.kind', '=', kind);

/** Numbers of the commits of tags, by the tags' names. */
export async function tagCommits(
  reads: Reads,
  projectId: string,
  names: readonly string[],
): Promise<Map<string, number>> {
  if (names.length === 0) return new Map();
  const rows = await refsAtCommits(reads, projectId, 'tag')
    .where((eb) => isOneOf(eb, 'r.name', names))
    .select(['r.name', 'c.seq'])
    .execute();
  return new Map(rows.map(({ name, seq }) => [name, seq]));
}

/** Numbers of the commits of all tags that may be those of package versions, by the tags' names. */
export async function versionTagCommits(reads: Reads, projectId: string): Promise<Map<string, number>> {
  const rows = await versionTagsAtCommits(reads, projectId).select(['r.name', 'c.seq']).execute();
  return new Map(rows.map(({ name, seq }) => [name, seq]));
}

/** Tags that may be those of package versions (`name_vX.Y.Z.B`), with their commits. */
export const versionTagsAtCommits = (reads: Reads, projectId: string) =>
  refsAtCommits(reads, projectId, 'tag').where('r.name', 'like', String.raw`%\_v%`);

/** Numbers of the newest commits of all branches, by the branches' names. */
export async function branchTips(reads: Reads, projectId: string): Promise<Map<string, number>> {
  const rows = await refsAtCommits(reads, projectId, 'branch').select(['r.name', 'c.seq']).execute();
  return new Map(rows.map(({ name, seq }) => [name, seq]));
}

/** Numbers of the newest commits of some branches, by the branches' names; branches that do not exist are left out. */
export async function tipsOfBranches(
  reads: Reads,
  projectId: string,
  names: readonly string[],
): Promise<Map<string, number>> {
  if (names.length === 0) return new Map();
  const rows = await refsAtCommits(reads, projectId, 'branch')
    .where((eb) => isOneOf(eb, 'r.name', names))
    .select(['r.name', 'c.seq'])
    .execute();
  return new Map(rows.map(({ name, seq }) => [name, seq]));
}

/** The number of a branch's newest commit; undefined when there is no such branch. */
export async function branchTip(reads: Reads, projectId: string, name: string): Promise<number | undefined> {
  const row = await refsAtCommits(reads, projectId, 'branch')
    .where('r.name', '=', name)
    .select('c.seq')
    .executeTakeFirst();
  return row?.seq;
}

export const BRANCHES_MAX = 1_000;

/** Branches of a repository, those with the newest commits first. */
export const listBranches = (reads: Reads, projectId: string) =>
  refsAtCommits(reads, projectId, 'branch')
    .orderBy('c.committedAt', 'desc')
    .orderBy('r.name')
    .limit(BRANCHES_MAX)
    .select(['r.name', 'r.sha as commitId', 'c.committedAt'])
    .execute();

/** All branches and tags. */
export const currentRefs = ({ db, tenantId }: Reads, projectId: string): Promise<Ref[]> =>
  db
    .selectFrom('git_ref')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .orderBy('kind')
    .orderBy('name')
    .select(['kind', 'name', 'sha'])
    .execute();

/** Makes the branches and tags of a repository those that are given. Whether any was different. */
export async function replaceRefs(
  { db, tenantId }: Pick<Tx, 'db' | 'tenantId'>,
  projectId: string,
  refs: readonly Ref[],
): Promise<boolean> {
  const { changes } = await db
    .with('wanted', (inner) =>
      inner
        .selectFrom(batch('r', refs, { kind: 'text', name: 'text', sha: 'text' }))
        .select(['r.kind', 'r.name', 'r.sha']),
    )
    .with('removed', (inner) =>
      inner
        .deleteFrom('git_ref as r')
        .where('r.tenantId', '=', tenantId)
        .where('r.projectId', '=', projectId)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('wanted as w')
                .whereRef('w.kind', '=', 'r.kind')
                .whereRef('w.name', '=', 'r.name')
                .select(sql.lit(1).as('one')),
            ),
          ),
        )
        .returning('r.name'),
    )
    .with('written', (inner) =>
      inner
        .insertInto('git_ref')
        .columns(['tenantId', 'projectId', 'kind', 'name', 'sha'])
        .expression((eb) =>
          eb
            .selectFrom('wanted')
            .select([
              sql<string>`${tenantId}::uuid`.as('tenant_id'),
              sql<string>`${projectId}::uuid`.as('project_id'),
              'kind',
              'name',
              'sha',
            ]),
        )
        .onConflict((conflict) =>
          conflict
            .columns(['tenantId', 'projectId', 'kind', 'name'])
            .doUpdateSet((eb) => ({ sha: eb.ref('excluded.sha') }))
            .whereRef('git_ref.sha', '<>', 'excluded.sha'),
        )
        .returning('name'),
    )
    .selectNoFrom(sql<number>`((select count(*) from removed) + (select count(*) from written))::int`.as('changes'))
    .executeTakeFirstOrThrow();
  return changes > 0;
}
