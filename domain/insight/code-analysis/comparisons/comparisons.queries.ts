import { sql } from 'kysely';
import { json } from '../../../kernel/data/columns.ts';
import type { Database } from '../../../kernel/data/tables.ts';
import type { TenantKey } from '../../../kernel/shared/actor.ts';
import { tenantSlugOf } from '../../../kernel/tenants/tenants.queries.ts';
import type { Tx } from '../../../unit-of-work.ts';
import type { BranchOf } from '../analyses.queries.ts';
import type { Gate } from './gate-rules.ts';

const COLUMNS = [
  'id',
  'projectId',
  'branch',
  'commitId',
  'analyzedAt',
  'summary',
  'bodyId',
  'indexedAt',
  'announcedAt',
  'gate',
] as const;

const ofBranch = ({ db, tenantId }: Tx, { projectId, branch }: BranchOf) =>
  db
    .selectFrom('code_analysis')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('branch', '=', branch)
    .select(COLUMNS);

/** The earliest analysis of a branch that is to be compared, and the one before it. */
export async function nextComparison(tx: Tx, branch: BranchOf) {
  const head = await ofBranch(tx, branch)
    .where('comparedAt', 'is', null)
    .orderBy('analyzedAt')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  if (!head) return undefined;
  const base = await ofBranch(tx, branch)
    .where((eb) =>
      eb(eb.refTuple('analyzedAt', 'id'), '<', eb.tuple(sql<string>`${head.analyzedAt}::timestamptz`, head.id)),
    )
    .orderBy('analyzedAt', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return { head, base };
}

export type ComparedAnalysis = NonNullable<Awaited<ReturnType<typeof nextComparison>>>['head'];

export async function noteIndexed({ db, tenantId, now }: Tx, id: string): Promise<void> {
  await db
    .updateTable('code_analysis')
    .set({ indexedAt: now, updatedAt: now })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Records a comparison; false when the analysis is gone. */
export async function noteCompared(
  { db, tenantId, now }: Tx,
  id: string,
  outcome: { baseId: string | null; newIssues: number; fixedIssues: number; gate: Gate; statusDue: boolean },
): Promise<boolean> {
  const { gate, statusDue, ...numbers } = outcome;
  const updated = await db
    .updateTable('code_analysis')
    .set({
      ...numbers,
      gate: json(gate),
      comparedAt: now,
      announcedAt: sql<string>`coalesce(announced_at, ${now})`,
      updatedAt: now,
      ...(statusDue && { statusDue }),
    })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .returning('id')
    .execute();
  return updated.length > 0;
}

/** Analyses of a branch whose commit status is to be written. */
export const dueStatuses = ({ db, tenantId }: Pick<Tx, 'db' | 'tenantId'>, { projectId, branch }: BranchOf) =>
  db
    .selectFrom('code_analysis')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('branch', '=', branch)
    .where('statusDue', '=', sql.lit(true))
    .orderBy('analyzedAt')
    .select(['id', 'commitId', 'gate', 'summary'])
    .execute();

/** @param error null: it was written. @param isDue it is to be written nevertheless. */
export async function noteStatus(
  { db, tenantId, now }: Tx,
  id: string,
  { error, isDue }: { error: string | null; isDue: boolean },
): Promise<void> {
  await db
    .updateTable('code_analysis')
    .set({ statusDue: isDue, statusError: error, updatedAt: now })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

interface DueBranch extends TenantKey, BranchOf {
  repositoryIdentifier: string;
}

/** Branches with analyses whose comparison was not made, or whose commit status was not written; across tenants. */
export const overdueBranches = (
  system: Database,
  { comparisonSeconds, statusSeconds, limit }: { comparisonSeconds: number; statusSeconds: number; limit: number },
): Promise<DueBranch[]> =>
  system
    .selectFrom('code_analysis as a')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'a.tenantId').onRef('p.id', '=', 'a.projectId'))
    .where(
      sql<boolean>`a.updated_at < now() - make_interval(secs => case when a.compared_at is null
        then ${comparisonSeconds}::int else ${statusSeconds}::int end)`,
    )
    .where((eb) => eb.or([eb('a.comparedAt', 'is', null), eb('a.statusDue', '=', sql.lit(true))]))
    .groupBy(['a.tenantId', 'a.projectId', 'a.branch', 'p.identifier'])
    .orderBy(({ fn }) => fn.min('a.updatedAt'))
    .limit(limit)
    .select([
      'a.tenantId',
      tenantSlugOf('a.tenant_id'),
      'a.projectId',
      'a.branch',
      'p.identifier as repositoryIdentifier',
    ])
    .execute();

/** Logs that no analysis has had for so long; across tenants. */
export const surplusBodies = (system: Database, { seconds, limit }: { seconds: number; limit: number }) =>
  system
    .selectFrom('code_analysis_body as b')
    .where('b.createdAt', '<', sql<string>`now() - make_interval(secs => ${seconds}::int)`)
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('code_analysis as a')
            .select(sql<number>`1`.as('one'))
            .whereRef('a.tenantId', '=', 'b.tenantId')
            .whereRef('a.bodyId', '=', 'b.id'),
        ),
      ),
    )
    .orderBy('b.createdAt')
    .limit(limit)
    .select(['b.tenantId', 'b.id'])
    .execute();
