import { sql } from 'kysely';
import { batch } from '../../kernel/data/batches.ts';
import { epochMs } from '../../kernel/data/conditions.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { DeploymentStatus } from '../release-candidates/finalization-rules.ts';

/** An environment as one domain is deployed to it. */
export interface PlaceKey {
  environmentId: string;
  domain: string;
}

/** Another digest, other deployments; it covers every column of `LoggedRow` that can change for one deployment alone. */
const digest = sql<string>`count(*) || ':' || bit_xor(hash_record_extended(row (d.id, d.deployed_at, d.status, d.rolled_back_at), 0))`;

const deploymentsOf = ({ db, tenantId }: Reads, projectId: string) =>
  db.selectFrom('release_deployment as d').where('d.tenantId', '=', tenantId).where('d.projectId', '=', projectId);

/** Digests of the deployments of each domain to each environment, from an index alone. */
export const placeDigests = (reads: Reads, projectId: string) =>
  deploymentsOf(reads, projectId)
    .groupBy(['d.environmentId', 'd.domain'])
    .select(['d.environmentId', 'd.domain', digest.as('digest')])
    .execute();

/** A deployment without its packages; moments in milliseconds since the epoch. */
export type LoggedRow = [
  id: string,
  at: number,
  receivedAt: number,
  status: DeploymentStatus,
  rolledBackAt: number | null,
  releaseName: string,
  installsAll: boolean,
  contentDigest: string | null,
  commitSha: string | null,
];

/** The deployments of some domains to environments, in order, with their digests. */
export const placeRows = (reads: Reads, projectId: string, places: readonly PlaceKey[]) =>
  deploymentsOf(reads, projectId)
    .innerJoin(batch('w', places, { environmentId: 'uuid', domain: 'text' }), (join) =>
      join.onRef('w.environmentId', '=', 'd.environmentId').onRef('w.domain', '=', 'd.domain'),
    )
    .groupBy(['d.environmentId', 'd.domain'])
    .select([
      'd.environmentId',
      'd.domain',
      digest.as('digest'),
      sql<
        LoggedRow[]
      >`json_agg(json_build_array(d.id, ${epochMs(sql`d.deployed_at`)}, ${epochMs(sql`d.created_at`)}, d.status,
        ${epochMs(sql`d.rolled_back_at`)}, d.release_name, d.installs_all, d.content_digest, d.commit_sha) order by d.deployed_at, d.created_at, d.id)`.as(
        'rows',
      ),
    ])
    .execute();

/** What some deployments installed, as JSON that is the same for the same packages; those that installed the same come together. */
export const installedByDeployments = ({ db, tenantId }: Reads, ids: readonly string[]) =>
  db
    .selectFrom('release_deployment as d')
    .where('d.tenantId', '=', tenantId)
    .where('d.id', '=', sql<string>`any (${ids}::uuid[])`)
    .groupBy('d.installed')
    .select([sql<string>`d.installed::text`.as('installed'), sql<string[]>`json_agg(d.id)`.as('ids')])
    .execute();
