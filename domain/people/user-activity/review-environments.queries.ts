import { sql, type SqlBool } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { statement } from '../../kernel/data/statement.ts';
import type { AssignmentState, AssignmentType } from '../../review/review-assignments/assignment-rules.ts';
import type { ReviewTargetType } from '../../review/review-rules/review-rules.entities.ts';

/** An assignment that waits for its org or environment, or has it. */
export interface ActivityAssignment {
  id: string;
  projectId: string;
  assignmentType: AssignmentType;
  /** The number of a pull request, or the e-mail of a person. */
  assignmentKey: string;
  branch: string | null;
  targetType: ReviewTargetType;
  targetName: string;
  state: AssignmentState;
  orgUsername: string | null;
  /** The platform's id of the org; null where it is not registered. */
  platformOrgId: string | null;
  assignedAt: string | null;
  expiresAt: string | null;
  createdAt: string;
  isImmortal: boolean;
}

const ASSIGNMENTS = statement<{ tenantId: string; projectIds: string[]; types: string[]; keys: string[] }>()(
  (db, { tenantId, projectIds, types, keys }) =>
    db
      .selectFrom(
        sql<{
          projectId: string;
          type: AssignmentType;
          key: string;
        }>`unnest(${projectIds}::uuid[], ${types}::text[], ${keys}::text[])`.as<'w'>(sql`w (project_id, type, key)`),
      )
      .innerJoin('review_assignment as a', (join) =>
        join
          .on('a.tenantId', '=', tenantId)
          .onRef('a.projectId', '=', 'w.projectId')
          .onRef('a.assignmentType', '=', 'w.type')
          .onRef('a.assignmentKey', '=', 'w.key'),
      )
      .leftJoin('crm_org as o', (join) =>
        join.onRef('o.tenantId', '=', 'a.tenantId').on(sql<SqlBool>`lower(o.username) = lower(a.org_username)`),
      )
      .where(sql<SqlBool>`a.state in ('pending', 'active')`)
      .orderBy('a.number')
      .select([
        'a.id',
        'a.projectId',
        'a.assignmentType',
        'a.assignmentKey',
        'a.branch',
        'a.targetType',
        'a.targetName',
        'a.state',
        'a.orgUsername',
        'o.platformOrgId',
        'a.assignedAt',
        'a.expiresAt',
        'a.createdAt',
        'a.isImmortal',
      ]),
);

export interface AssignmentKey {
  projectId: string;
  type: AssignmentType;
  key: string;
}

/** The open assignments of those keys, the oldest first. */
export const assignmentsOfKeys = (
  { db, tenantId }: Reads,
  keys: readonly AssignmentKey[],
): Promise<ActivityAssignment[]> =>
  ASSIGNMENTS(db, {
    tenantId,
    projectIds: keys.map(({ projectId }) => projectId),
    types: keys.map(({ type }) => type),
    keys: keys.map(({ key }) => key),
  });
