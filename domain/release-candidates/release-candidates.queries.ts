import { LockMode } from '@mikro-orm/core';
import type { ActorReads } from '../data/fenced-reads.ts';
import type { ProjectFacts } from '../projects/projects.queries.ts';
import { domainNames } from '../projects/project-rules.ts';
import { notFound } from '../shared/errors.ts';
import { textArray } from '../shared/text-array.ts';
import type { Tx } from '../unit-of-work.ts';
import { FINALIZED } from './candidate-status-rules.ts';
import { ReleaseCandidate } from './release-candidates.entities.ts';

/** A candidate as lists read it; moments are the database's text. */
export interface CandidateRow {
  id: string;
  domain: string;
  releaseName: string;
  commitSha: string;
  branch: string | null;
  tag: string | null;
  value: Record<string, unknown>;
  version: number;
  status: string;
  statusChangedAt: string | null;
  statusChangedBy: string | null;
  createdAt: string;
  updatedAt: string;
  createdBy: string;
  updatedBy: string;
}

const COLUMNS = `c.id, c.domain, c.release_name as "releaseName", c.commit_sha as "commitSha", c.branch, c.tag, c.value,
  c.version, c.status, c.status_changed_at as "statusChangedAt", c.status_changed_by as "statusChangedBy",
  c.created_at as "createdAt", c.updated_at as "updatedAt", c.created_by as "createdBy", c.updated_by as "updatedBy"`;

export interface CandidateFilter {
  domain?: string | undefined;
  branch?: string | undefined;
  /** Only these statuses; absent: all but finalized, or all with `includeFinalized`. */
  statuses?: readonly string[] | undefined;
  includeFinalized?: boolean;
}

interface Condition {
  sql: string;
  parameters: unknown[];
}

/** The filter as a condition on `release_candidate`, or on the counts, where a missing branch is the empty text. */
function conditionOf(project: ProjectFacts, filter: CandidateFilter, noBranch: string): Condition {
  const parts: string[] = ['project_id = ?'];
  const parameters: unknown[] = [project.id];
  if (filter.domain !== undefined) {
    parts.push('domain = ?');
    parameters.push(filter.domain);
  }
  if (filter.branch !== undefined) {
    parts.push(filter.branch === project.defaultBranch ? `(branch = ? or ${noBranch})` : 'branch = ?');
    parameters.push(filter.branch);
  }
  if (filter.statuses) {
    parts.push('status = any (?::text[])');
    parameters.push(textArray(filter.statuses));
  } else if (!filter.includeFinalized) parts.push(`status <> '${FINALIZED}'`);
  return { sql: parts.join(' and '), parameters };
}

/**
 * One page of candidates, newest first. The page's ids come from an index alone, so that rows before the offset are
 * never read; the total is exact and comes from counts that triggers keep.
 */
export async function listCandidates(
  { sql, tenantId }: ActorReads,
  project: ProjectFacts,
  filter: CandidateFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: CandidateRow[]; total: number }> {
  const onRows = conditionOf(project, filter, 'branch is null');
  const onCounts = conditionOf(project, filter, `branch = ''`);
  // The size of the page stands in the statement: a plan for any size would not begin at the index's end.
  const rows = await sql<CandidateRow & { total: string }>(
    `with page as materialized (
       select id, created_at from release_candidate where tenant_id = ? and ${onRows.sql}
       order by created_at desc, id desc limit ${Math.trunc(limit)}${offset > 0 ? ' offset ?' : ''}),
     counted as (
       select coalesce(sum(candidates), 0) as total from release_candidate_count where tenant_id = ? and ${onCounts.sql})
     select ${COLUMNS}, counted.total
     from counted left join page on true left join release_candidate c on c.id = page.id and c.tenant_id = ?
     order by page.created_at desc, page.id desc`,
    [tenantId, ...onRows.parameters, ...(offset > 0 ? [offset] : []), tenantId, ...onCounts.parameters, tenantId],
  );
  return { items: rows.filter(({ id }) => id !== null), total: Number(rows[0]?.total ?? 0) };
}

/** Candidates of a commit; an abbreviated id finds all that begin with it. Newest first, at most 200. */
export const candidatesOfCommit = (
  { sql, tenantId }: ActorReads,
  projectId: string,
  commitSha: string,
): Promise<CandidateRow[]> =>
  sql(
    `select ${COLUMNS} from release_candidate c where tenant_id = ? and project_id = ? and commit_sha like ?
     order by created_at desc, id desc limit 200`,
    [tenantId, projectId, `${commitSha.toLowerCase()}%`],
  );

/** The newest candidate of a domain, whatever its status. */
export async function latestCandidate(
  reads: ActorReads,
  project: ProjectFacts,
  domain: string,
  branch?: string,
): Promise<CandidateRow | undefined> {
  const { items } = await listCandidates(
    reads,
    project,
    { domain, branch, includeFinalized: true },
    { limit: 1, offset: 0 },
  );
  return items[0];
}

/** Names of branches with at least one candidate; one without a branch counts as on the default branch. */
export async function candidateBranches({ sql }: ActorReads, project: ProjectFacts): Promise<string[]> {
  const rows = await sql<{ branch: string }>(
    `select distinct coalesce(nullif(branch, ''), ?) as branch from release_candidate_count
     where project_id = ? and candidates > 0 order by 1`,
    [project.defaultBranch, project.id],
  );
  return rows.map(({ branch }) => branch);
}

/** Domains of the project's configuration and those with candidates, by name. */
export async function candidateDomains({ sql }: ActorReads, project: ProjectFacts): Promise<string[]> {
  const rows = await sql<{ domain: string }>(
    'select distinct domain from release_candidate_count where project_id = ? and candidates > 0',
    [project.id],
  );
  return [...new Set([...domainNames(project.configuration), ...rows.map(({ domain }) => domain)])].toSorted();
}

export interface CandidateName {
  domain: string;
  releaseName: string;
}

/**
 * Makes changes of a domain's candidates take turns until this transaction ends. Whoever changes a candidate takes it
 * first, so that an outcome is always that of some order of the changes.
 */
export async function lockDomain({ sql, tenantId }: Tx, projectId: string, domain: string): Promise<void> {
  await sql('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`${tenantId}/${projectId}/${domain}`]);
}

export const findCandidate = (
  tx: Tx,
  projectId: string,
  { domain, releaseName }: CandidateName,
): Promise<ReleaseCandidate | null> =>
  tx.em.findOne(ReleaseCandidate, { tenantId: tx.tenantId, projectId, domain, releaseName });

/** A candidate by name, read after its domain's lock is taken. Throws `not_found`. */
export async function lockedCandidate(tx: Tx, projectId: string, name: CandidateName): Promise<ReleaseCandidate> {
  await lockDomain(tx, projectId, name.domain);
  const candidate = await findCandidate(tx, projectId, name);
  if (!candidate) throw notFound(`Release candidate ${name.releaseName} of domain ${name.domain}`);
  return candidate;
}

/** A candidate by id; `isLocked`: read after its domain's lock is taken. Throws `not_found`. */
export async function candidateById(tx: Tx, id: string, { isLocked = false } = {}): Promise<ReleaseCandidate> {
  const candidate = await tx.em.findOne(ReleaseCandidate, { tenantId: tx.tenantId, id });
  if (!candidate) throw notFound('The release candidate');
  if (!isLocked) return candidate;
  await lockDomain(tx, candidate.projectId, candidate.domain);
  await tx.em.refresh(candidate, { lockMode: LockMode.PESSIMISTIC_WRITE });
  return candidate;
}

/** Open candidates of the same domain and branch that were made before this one, oldest first. */
export async function olderOpenCandidates(
  tx: Tx,
  candidate: ReleaseCandidate,
  defaultBranch: string,
  lockedStatuses: readonly string[],
): Promise<ReleaseCandidate[]> {
  const branch = candidate.branch ?? defaultBranch;
  const rows = await tx.em.find(
    ReleaseCandidate,
    {
      tenantId: tx.tenantId,
      projectId: candidate.projectId,
      domain: candidate.domain,
      status: { $nin: [...lockedStatuses] },
      $or: [{ createdAt: { $lt: candidate.createdAt } }, { createdAt: candidate.createdAt, id: { $lt: candidate.id } }],
    },
    { orderBy: { createdAt: 'asc', id: 'asc' } },
  );
  return rows.filter((each) => (each.branch ?? defaultBranch) === branch);
}

/** All candidates of a branch, in every domain; the locks of their domains are taken in order of name. */
export async function lockCandidatesOfBranch(
  tx: Tx,
  project: ProjectFacts,
  branch: string,
): Promise<ReleaseCandidate[]> {
  const domains = await tx.sql<{ domain: string }>(
    'select distinct domain from release_candidate_count where project_id = ? and branch = ? and candidates > 0 order by 1',
    [project.id, branch],
  );
  for (const { domain } of domains) await lockDomain(tx, project.id, domain);
  return tx.em.find(
    ReleaseCandidate,
    { tenantId: tx.tenantId, projectId: project.id, branch },
    { orderBy: { createdAt: 'asc', id: 'asc' } },
  );
}
