import { sql, type SqlBool } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { statement } from '../../kernel/data/statement.ts';
import type { Tx } from '../../unit-of-work.ts';
import { FINAL_STATUSES } from './candidate-status-rules.ts';
import { CANDIDATE_COLUMNS, type CandidateRow } from './release-candidates.queries.ts';

const OLDER_OPEN = statement<{
  tenantId: string;
  projectId: string;
  domain: string;
  branch: string;
  defaultBranch: string;
  createdAt: string;
  id: string;
  finalStatuses: readonly string[];
}>()((db, given) =>
  db
    .selectFrom('release_candidate')
    .where('tenantId', '=', given.tenantId)
    .where('projectId', '=', given.projectId)
    .where('domain', '=', given.domain)
    .where(sql<SqlBool>`coalesce(branch, ${given.defaultBranch}) = ${given.branch}`)
    .where('status', '<>', sql<string>`all (${given.finalStatuses}::text[])`)
    .where(sql<SqlBool>`(created_at, id) < (${given.createdAt}::timestamptz, ${given.id}::uuid)`)
    .orderBy('createdAt')
    .orderBy('id')
    .select(CANDIDATE_COLUMNS),
);

/** Open candidates of the same domain and branch that were made before this one, oldest first. */
export const olderOpenCandidates = (
  { db, tenantId }: Reads,
  { id, projectId, domain, createdAt, branch }: CandidateRow,
  defaultBranch: string,
): Promise<CandidateRow[]> =>
  OLDER_OPEN(db, {
    tenantId,
    projectId,
    domain,
    branch: branch ?? defaultBranch,
    defaultBranch,
    createdAt,
    id,
    finalStatuses: FINAL_STATUSES,
  });

const UPDATE_STATUS = statement<{
  tenantId: string;
  ids: readonly string[];
  superseders: readonly (string | null)[];
  status: string;
  by: string;
  at: Date;
}>()((db, { tenantId, ids, superseders, status, by, at }) =>
  db
    .updateTable('release_candidate')
    .where('tenantId', '=', tenantId)
    .where('id', '=', sql<string>`any (${ids}::uuid[])`)
    .set((eb) => ({
      status,
      statusChangedAt: at,
      statusChangedBy: by,
      supersededBy: sql<string | null>`(${superseders}::text[])[array_position(${ids}::uuid[], id)]`,
      version: eb('version', '+', sql.lit(1)),
      updatedBy: by,
      updatedAt: at,
    }))
    .returning(CANDIDATE_COLUMNS),
);

/**
 * Gives candidates a status and a new version; answers them by id. The domain's lock must be held.
 * @param candidates `supersededBy`: the newer release along with which a candidate is finalized.
 */
export async function updateStatus(
  { db, tenantId, actor, now }: Tx,
  candidates: readonly { id: string; supersededBy?: string | undefined }[],
  status: string,
): Promise<Map<string, CandidateRow>> {
  if (candidates.length === 0) return new Map();
  const rows = await UPDATE_STATUS(db, {
    tenantId,
    ids: candidates.map(({ id }) => id),
    superseders: candidates.map(({ supersededBy = null }) => supersededBy),
    status,
    by: actor.email,
    at: now,
  });
  return new Map(rows.map((row) => [row.id, row]));
}
