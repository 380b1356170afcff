import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { GcCheckStatus } from './gc-ledger.entities.ts';
import type { ComponentName } from './gc-ledger-rules.ts';
import type { GcBranch } from './gc-review.queries.ts';

export const checkById = ({ db, tenantId }: Reads, id: string) =>
  db
    .selectFrom('gc_check as c')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'c.tenantId').onRef('p.id', '=', 'c.projectId'))
    .where('c.tenantId', '=', tenantId)
    .where('c.id', '=', id)
    .select([
      'c.id',
      'c.projectId',
      'p.identifier as repositoryIdentifier',
      'c.branch',
      'c.status',
      'c.environments',
      'c.error',
      'c.requestedBy',
      'c.createdAt',
      'c.endedAt',
    ])
    .executeTakeFirst();

export const checkUnderWay = ({ db, tenantId }: Tx, { projectId, branch }: GcBranch) =>
  db
    .selectFrom('gc_check')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('branch', '=', branch)
    .where('status', 'in', sql<GcCheckStatus>`('queued', 'running')`)
    .select('id')
    .executeTakeFirst();

/** Entries of a branch behind one of them, by id. */
export const entriesAfter = (
  { db, tenantId }: Reads,
  { projectId, branch }: GcBranch,
  after: string,
  limit: number,
): Promise<(ComponentName & { id: string })[]> =>
  db
    .selectFrom('gc_entry')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('branch', '=', branch)
    .where('id', '>', after)
    .orderBy('id')
    .limit(sql.lit(limit))
    .select(['id', 'packageName', 'componentType', 'fullName'])
    .execute();
