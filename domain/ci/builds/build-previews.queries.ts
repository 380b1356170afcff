import { sql } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import { secondsAgo } from '../../kernel/data/conditions.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { TenantKey } from '../../kernel/shared/actor.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';

export interface PreviewRequest {
  branch: string;
  commitId: string;
  forcedDomains: string[];
  forcedPackages: string[];
}

const IMPACT = [
  'previewKey',
  'generation',
  'status',
  'impactedDomains',
  'computedAt',
  'message',
  // The commit against which it was computed; null: from the beginning, or not computed here.
  'baseSha as baseCommitId',
] as const;

export const findImpact = ({ db, tenantId }: Reads, projectId: string, previewKey: string) =>
  db
    .selectFrom('build_preview')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('previewKey', '=', previewKey)
    .select(IMPACT)
    .executeTakeFirst();

/** What a build would affect, as far as it is computed. */
export type Impact = NonNullable<Awaited<ReturnType<typeof findImpact>>>;

/** Requests the next generation of an impact; undefined where there is one that neither failed nor is to be refreshed. */
export const insertPreview = (
  { db, tenantId }: Pick<Tx, 'db' | 'tenantId'>,
  projectId: string,
  previewKey: string,
  { branch, commitId, forcedDomains, forcedPackages }: PreviewRequest,
  isRefreshed: boolean,
): Promise<Impact | undefined> =>
  db
    .insertInto('build_preview')
    .values({
      tenantId,
      projectId,
      previewKey,
      branch,
      commitSha: commitId,
      forcedDomains: json(forcedDomains),
      forcedPackages: json(forcedPackages),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['tenantId', 'projectId', 'previewKey'])
        .doUpdateSet((eb) => ({
          generation: eb('build_preview.generation', '+', 1),
          status: 'pending' as const,
          requestedAt: sql<string>`clock_timestamp()`,
          message: null,
        }))
        .where((eb) => (isRefreshed ? eb.lit(true) : eb('build_preview.status', '=', 'error'))),
    )
    .returning(IMPACT)
    .executeTakeFirst();

/** Computations that never lead to a result are not started again for ever. */
const GIVEN_UP_AFTER_SECONDS = 86_400;

export interface OverduePreview extends TenantKey {
  projectId: string;
  repositoryIdentifier: string;
  previewKey: string;
  generation: number;
}

/** Previews that have been pending for `overdueSeconds`; across tenants. */
export const overduePreviews = (system: Database, overdueSeconds: number, limit: number): Promise<OverduePreview[]> =>
  system
    .selectFrom('build_preview as b')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'b.tenantId').onRef('p.id', '=', 'b.projectId'))
    .select([
      'b.tenantId',
      tenantSlugOf('b.tenantId'),
      'b.projectId',
      'p.identifier as repositoryIdentifier',
      'b.previewKey',
      'b.generation',
    ])
    .where('b.status', '=', 'pending')
    .where('b.requestedAt', '<', secondsAgo(overdueSeconds))
    .where('b.requestedAt', '>', secondsAgo(GIVEN_UP_AFTER_SECONDS))
    .orderBy('b.requestedAt')
    .limit(limit)
    .execute();
