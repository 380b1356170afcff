import { type SqlBool, sql } from 'kysely';
import { batch } from '../../kernel/data/batches.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { CandidateRow } from './release-candidates.queries.ts';

/** A candidate that held versions before another one did. */
export interface FirstHolder {
  releaseName: string;
  commitSha: string;
}

/**
 * The candidate from another commit that held all versions of a candidate before it; undefined: there is none, as where
 * any version is new, or they come from several candidates.
 */
export async function firstHolder(
  { db, tenantId }: Reads,
  { id, projectId, commitSha, value: { artifacts = {} } }: CandidateRow,
): Promise<FirstHolder | undefined> {
  const versions = Object.entries(artifacts).map(([name, version]) => ({ name, version }));
  if (versions.length === 0) return undefined;
  const rows = await db
    .selectFrom('package_version as v')
    .innerJoin(batch('w', versions, { name: 'text', version: 'text' }), (join) =>
      join.onRef('w.name', '=', 'v.name').onRef('w.version', '=', 'v.version'),
    )
    .innerJoin('release_candidate as c', (join) =>
      join.onRef('c.tenantId', '=', 'v.tenantId').onRef('c.id', '=', 'v.candidateId'),
    )
    .where('v.tenantId', '=', tenantId)
    .where('v.projectId', '=', projectId)
    .where('v.candidateId', '<>', id)
    // One of the ids may abbreviate the other.
    .where(sql<SqlBool>`not (starts_with(v.commit_sha, ${commitSha}) or starts_with(${commitSha}, v.commit_sha))`)
    .select(['v.candidateId', 'c.releaseName', 'v.commitSha'])
    .execute();
  const [first] = rows;
  const isOne = rows.length === versions.length && rows.every(({ candidateId }) => candidateId === first?.candidateId);
  return isOne ? first : undefined;
}
