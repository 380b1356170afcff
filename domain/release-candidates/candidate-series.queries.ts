import type { Tx } from '../unit-of-work.ts';
import type { ReleaseDefinition } from './comparison-rules.ts';

/** What of a candidate its place among the others depends on. */
export interface SeriesCandidate {
  id: string;
  domain: string;
  releaseName: string;
  branch: string | null;
  commitSha: string;
  status: string;
  value: ReleaseDefinition;
  version: number;
  /** The database's text. */
  createdAt: string;
}

const COLUMNS = `id, domain, release_name as "releaseName", branch, commit_sha as "commitSha", status, value, version, created_at as "createdAt"`;

/** The newest candidates of each domain that were not aborted, newest first. */
export const newestCandidates = (
  { sql, tenantId }: Pick<Tx, 'sql' | 'tenantId'>,
  projectId: string,
  { exceptDomain, perDomain }: { exceptDomain: string | null; perDomain: number },
): Promise<SeriesCandidate[]> =>
  sql(
    `select c.* from (select distinct domain from release_candidate_count where tenant_id = ? and project_id = ? and candidates > 0 and domain is distinct from ?) d
     cross join lateral (
       select ${COLUMNS} from release_candidate where tenant_id = ? and project_id = ? and domain = d.domain and status <> 'aborted'
       order by created_at desc, id desc limit ?) c`,
    [tenantId, projectId, exceptDomain, tenantId, projectId, perDomain],
  );

export interface CandidateWithPrevious {
  domain: string;
  releaseName: string;
  artifacts: Record<string, string> | null;
  /** As its definition has it. */
  changelog: unknown;
  previousName: string | null;
  previousArtifacts: Record<string, string> | null;
}

/** Candidates by their names, each with the one of the same domain and branch that was made before it, if any. */
export const candidatesWithPrevious = (
  { sql, tenantId }: Pick<Tx, 'sql' | 'tenantId'>,
  { id: projectId, defaultBranch }: { id: string; defaultBranch: string },
  names: readonly { domain: string; releaseName: string }[],
): Promise<CandidateWithPrevious[]> =>
  sql(
    `select c.domain, c.release_name as "releaseName", c.value->'artifacts' as artifacts, c.value->'changelog' as changelog,
       p.release_name as "previousName", p.artifacts as "previousArtifacts"
     from jsonb_to_recordset(?::jsonb) as w (domain text, "releaseName" text)
     join release_candidate c on c.tenant_id = ? and c.project_id = ? and (c.domain, c.release_name) = (w.domain, w."releaseName")
     left join lateral (
       select release_name, value->'artifacts' as artifacts from release_candidate
       where tenant_id = c.tenant_id and project_id = c.project_id and domain = c.domain and coalesce(branch, ?) = coalesce(c.branch, ?)
         and status <> 'aborted' and (created_at, id) < (c.created_at, c.id)
       order by created_at desc, id desc limit 1) p on true`,
    [JSON.stringify(names), tenantId, projectId, defaultBranch, defaultBranch],
  );

/** The candidate of the same domain and branch that was made before this one; undefined when it is the first. */
export async function previousCandidate(
  { sql, tenantId }: Pick<Tx, 'sql' | 'tenantId'>,
  projectId: string,
  defaultBranch: string,
  {
    id,
    domain,
    branch,
    createdAt,
  }: { id: string; domain: string; branch?: string | null | undefined; createdAt: Date },
): Promise<SeriesCandidate | undefined> {
  const [found] = await sql<SeriesCandidate>(
    `select ${COLUMNS} from release_candidate
     where tenant_id = ? and project_id = ? and domain = ? and coalesce(branch, ?) = ? and status <> 'aborted'
       and (created_at, id) < (?::timestamptz, ?::uuid)
     order by created_at desc, id desc limit 1`,
    [tenantId, projectId, domain, defaultBranch, branch ?? defaultBranch, createdAt, id],
  );
  return found;
}

export interface CandidateName {
  releaseName: string;
  /** Undefined: of every domain. */
  domain?: string | undefined;
}

/** Candidates of a name that were not aborted, one for each domain. */
export const candidatesNamed = (
  { sql, tenantId }: Pick<Tx, 'sql' | 'tenantId'>,
  projectId: string,
  { releaseName, domain }: CandidateName,
): Promise<SeriesCandidate[]> =>
  sql(
    `select ${COLUMNS} from release_candidate
     where tenant_id = ? and project_id = ? and release_name = ? and (?::text is null or domain = ?) and status <> 'aborted' order by domain limit 200`,
    [tenantId, projectId, releaseName, domain ?? null, domain ?? null],
  );
