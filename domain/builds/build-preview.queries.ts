import { createHash } from 'node:crypto';
import type { Tx } from '../unit-of-work.ts';
import type { ImpactedDomain } from './impact.ts';

type Sql = Pick<Tx, 'sql' | 'tenantId'>;

export interface PreviewRequest {
  branch: string;
  commitId: string;
  forcedDomains: string[];
  forcedPackages: string[];
}

/** What a build would concern, as far as it is computed. */
export interface Impact {
  status: 'pending' | 'available' | 'error';
  previewKey: string;
  generation: number;
  impactedDomains: ImpactedDomain[];
  /** The database's text. */
  computedAt: string | null;
  message: string | null;
  /** The commit against which it was computed; null: from the beginning, or not computed here. */
  baseCommitId: string | null;
}

/** The same request has the same key. */
export const previewKey = (
  projectId: string,
  { branch, commitId, forcedDomains, forcedPackages }: PreviewRequest,
): string =>
  createHash('sha256')
    .update(JSON.stringify([projectId, branch, commitId, forcedDomains.toSorted(), forcedPackages.toSorted()]))
    .digest('hex')
    .slice(0, 32);

const COLUMNS = `preview_key as "previewKey", generation, status, impacted_domains as "impactedDomains", computed_at as "computedAt", message,
  base_sha as "baseCommitId"`;

/**
 * The impact for a request, asked for where there is none, or where a refresh is wanted: then the next generation is.
 */
export async function requestImpact(
  { sql, tenantId }: Tx,
  projectId: string,
  request: PreviewRequest,
  isRefreshed: boolean,
): Promise<Impact & { isAsked: boolean }> {
  const key = previewKey(projectId, request);
  const [asked] = await sql<Impact>(
    `insert into build_preview as p (tenant_id, project_id, preview_key, branch, commit_sha, forced_domains, forced_packages)
     values (?, ?, ?, ?, ?, ?::jsonb, ?::jsonb)
     on conflict (tenant_id, project_id, preview_key) do update
       set generation = p.generation + 1, status = 'pending', requested_at = clock_timestamp(), message = null
       where ?::boolean or p.status = 'error'
     returning ${COLUMNS}`,
    [
      tenantId,
      projectId,
      key,
      request.branch,
      request.commitId,
      JSON.stringify(request.forcedDomains),
      JSON.stringify(request.forcedPackages),
      isRefreshed,
    ],
  );
  if (asked) return { ...asked, isAsked: true };
  const known = await findImpact({ sql, tenantId }, projectId, key);
  if (!known) throw new Error('a preview that was just in the way is gone');
  return { ...known, isAsked: false };
}

export async function findImpact({ sql, tenantId }: Sql, projectId: string, key: string): Promise<Impact | undefined> {
  const [found] = await sql<Impact>(
    `select ${COLUMNS} from build_preview where tenant_id = ? and project_id = ? and preview_key = ?`,
    [tenantId, projectId, key],
  );
  return found;
}

/** What is to be computed; undefined when it is no longer wanted. */
export async function pendingPreview(
  { sql, tenantId }: Sql,
  projectId: string,
  key: string,
): Promise<(PreviewRequest & { generation: number }) | undefined> {
  const [found] = await sql<PreviewRequest & { generation: number }>(
    `select branch, commit_sha as "commitId", forced_domains as "forcedDomains", forced_packages as "forcedPackages", generation
     from build_preview where tenant_id = ? and project_id = ? and preview_key = ? and status = 'pending' for update`,
    [tenantId, projectId, key],
  );
  return found;
}

export interface ImpactResult {
  generation: number;
  status: 'available' | 'error';
  impactedDomains: readonly ImpactedDomain[];
  computedAt: Date;
  message?: string | null | undefined;
  baseCommitId?: string | null | undefined;
}

/** Keeps a result; one of another generation than the newest is ignored. Answers whether it was kept. */
export async function keepImpact(
  { sql, tenantId }: Tx,
  projectId: string,
  key: string,
  result: ImpactResult,
): Promise<boolean> {
  const { generation, status, impactedDomains, computedAt, message = null, baseCommitId = null } = result;
  const kept = await sql(
    `update build_preview set status = ?, impacted_domains = ?::jsonb, computed_at = ?, message = ?, base_sha = ?
     where tenant_id = ? and project_id = ? and preview_key = ? and generation = ? returning 1`,
    [status, JSON.stringify(impactedDomains), computedAt, message, baseCommitId, tenantId, projectId, key, generation],
  );
  return kept.length > 0;
}
