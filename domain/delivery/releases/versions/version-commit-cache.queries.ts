import { sql } from 'kysely';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import { versionTagsAtCommits } from '../../../code/git/mirror/refs.queries.ts';

/** How often versions of a project were taken along to other commits. */
export async function versionMoves({ db, tenantId }: Reads, projectId: string): Promise<string> {
  const { moves } = await db
    .selectFrom('package_version')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('moves', '>', 0)
    .select(sql<string>`coalesce(sum(moves), 0)::text`.as('moves'))
    .executeTakeFirstOrThrow();
  return moves;
}

/** How many versions have a commit by a release candidate. */
export async function versionCount({ db, tenantId }: Reads, projectId: string): Promise<string> {
  const { count } = await db
    .selectFrom('package_version')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .select(sql<string>`count(*)::text`.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** A digest of the tags that may be those of package versions, with their commits. */
export async function versionTagsDigest(reads: Reads, projectId: string): Promise<string> {
  const { digest } = await versionTagsAtCommits(reads, projectId)
    .select(sql<string>`coalesce(md5(string_agg(r.name || ' ' || c.seq, ',' order by r.name)), '')`.as('digest'))
    .executeTakeFirstOrThrow();
  return digest;
}
