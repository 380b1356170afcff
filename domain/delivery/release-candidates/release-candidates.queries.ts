import { sql } from 'kysely';
import { batch } from '../../kernel/data/batches.ts';
import { json } from '../../kernel/data/columns.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { statement } from '../../kernel/data/statement.ts';
import { projectById, type ProjectFacts } from '../../projects/projects/projects.queries.ts';
import { unknownDomain } from '../../projects/projects/project-rules.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { ReleaseDefinition } from './comparison-rules.ts';

export const CANDIDATE_COLUMNS = [
  'id',
  'projectId',
  'domain',
  'releaseName',
  'commitSha',
  'branch',
  'tag',
  'value',
  'version',
  'status',
  'statusChangedAt',
  'statusChangedBy',
  'supersededBy',
  'createdAt',
  'updatedAt',
  'createdBy',
  'updatedBy',
  'contentDigest',
  'holds',
] as const;

const BY_ID = statement<{ tenantId: string; id: string }>()((db, { tenantId, id }) =>
  db.selectFrom('release_candidate').where('tenantId', '=', tenantId).where('id', '=', id).select(CANDIDATE_COLUMNS),
);

/** A candidate; timestamps are the database's text. */
export type CandidateRow = Awaited<ReturnType<typeof BY_ID>>[number];

export interface CandidateName {
  domain: string;
  releaseName: string;
}

const BY_NAME = statement<CandidateName & { tenantId: string; projectId: string }>()((db, given) =>
  db
    .selectFrom('release_candidate')
    .where('tenantId', '=', given.tenantId)
    .where('projectId', '=', given.projectId)
    .where('domain', '=', given.domain)
    .where('releaseName', '=', given.releaseName)
    .select(CANDIDATE_COLUMNS),
);

export async function findCandidate(
  { db, tenantId }: Reads,
  projectId: string,
  { domain, releaseName }: CandidateName,
): Promise<CandidateRow | undefined> {
  const [candidate] = await BY_NAME(db, { tenantId, projectId, domain, releaseName });
  return candidate;
}

/** Candidates by their names; those that there are. */
export const candidatesOfNames = (
  { db, tenantId }: Reads,
  projectId: string,
  names: readonly CandidateName[],
): Promise<Pick<CandidateRow, 'domain' | 'releaseName' | 'branch' | 'createdAt'>[]> =>
  names.length === 0
    ? Promise.resolve([])
    : db
        .selectFrom('release_candidate')
        .innerJoin(batch('w', names, { domain: 'text', releaseName: 'text' }), (join) =>
          join
            .onRef('w.domain', '=', 'release_candidate.domain')
            .onRef('w.releaseName', '=', 'release_candidate.releaseName'),
        )
        .where('tenantId', '=', tenantId)
        .where('projectId', '=', projectId)
        .distinct()
        .select(['release_candidate.domain', 'release_candidate.releaseName', 'branch', 'createdAt'])
        .execute();

export interface CandidateOfProject {
  candidate: CandidateRow;
  project: ProjectFacts;
}

/** The candidate of that name in a project. Throws `not_found`. */
export async function candidateByName(
  reads: Reads,
  project: ProjectFacts,
  name: CandidateName,
): Promise<CandidateOfProject> {
  const candidate = await findCandidate(reads, project.id, name);
  if (!candidate) {
    const { domain, releaseName } = name;
    throw (
      unknownDomain(project.configuration, domain) ?? notFound(`Release candidate ${releaseName} of domain ${domain}`)
    );
  }
  return { candidate, project };
}

export async function findCandidateById({ db, tenantId }: Reads, id: string): Promise<CandidateRow | undefined> {
  const [candidate] = await BY_ID(db, { tenantId, id });
  return candidate;
}

/** A candidate by id, with its project. Throws `not_found`. */
export async function candidateById(reads: Reads, id: string): Promise<CandidateOfProject> {
  const candidate = await findCandidateById(reads, id);
  const project = candidate && (await projectById(reads, candidate.projectId));
  if (!project) throw notFound('The release candidate');
  return { candidate, project };
}

/** Candidates by their ids. */
export const candidatesByIds = async ({ db, tenantId }: Reads, ids: readonly string[]): Promise<CandidateRow[]> =>
  ids.length === 0
    ? []
    : db
        .selectFrom('release_candidate')
        .where('tenantId', '=', tenantId)
        .where('id', '=', sql<string>`any (${ids}::uuid[])`)
        .select(CANDIDATE_COLUMNS)
        .execute();

export interface NewCandidate extends CandidateName {
  projectId: string;
  commitSha: string;
  branch: string | null;
  tag: string | null;
  value: ReleaseDefinition & Record<string, unknown>;
  status: string;
  /** Null for the status of every new candidate, which nobody set. */
  statusChangedAt: Date | null;
}

/** The domain's lock must be held. */
export const insertCandidate = (
  { db, tenantId, actor }: Tx,
  { value, statusChangedAt, ...row }: NewCandidate,
): Promise<CandidateRow> =>
  db
    .insertInto('release_candidate')
    .values({
      ...row,
      id: newId(),
      tenantId,
      value: json(value),
      statusChangedAt,
      statusChangedBy: statusChangedAt && actor.email,
      createdBy: actor.email,
      updatedBy: actor.email,
      // Later than those of others that held the domain's lock before, unlike the begin of the transaction.
      createdAt: sql<string>`clock_timestamp()`,
      updatedAt: sql<string>`clock_timestamp()`,
    })
    .returning(CANDIDATE_COLUMNS)
    .executeTakeFirstOrThrow();

export type CandidateContent = Pick<NewCandidate, 'commitSha' | 'branch' | 'tag' | 'value'>;

/** Replaces what a candidate consists of; it gets a new version. The domain's lock must be held. */
export const updateContent = (
  { db, tenantId, actor, now }: Tx,
  id: string,
  { value, ...fields }: Partial<CandidateContent> & Pick<CandidateContent, 'value'>,
): Promise<CandidateRow> =>
  db
    .updateTable('release_candidate')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .set((eb) => ({
      ...fields,
      value: json(value),
      version: eb('version', '+', 1),
      updatedBy: actor.email,
      updatedAt: now,
    }))
    .returning(CANDIDATE_COLUMNS)
    .executeTakeFirstOrThrow();

export const deleteCandidates = ({ db, tenantId }: Tx, ids: readonly string[]) =>
  db
    .deleteFrom('release_candidate')
    .where('tenantId', '=', tenantId)
    .where('id', '=', sql<string>`any (${ids}::uuid[])`)
    .execute();
