import { LockMode } from '@mikro-orm/core';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { statement } from '../../kernel/data/statement.ts';
import { notFound, unregistered } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { Project } from './projects.entities.ts';

const COLUMNS = [
  'id',
  'tenantId',
  'identifier',
  'remoteUrl',
  'platform',
  'defaultBranch',
  'configuration',
] as const satisfies (keyof Project)[];

/** A project as everything that belongs to one reads it. */
export type ProjectFacts = Pick<Project, (typeof COLUMNS)[number]>;

const BY_IDENTIFIER = statement<{ tenantId: string; identifier: string }>()((db, { tenantId, identifier }) =>
  db.selectFrom('project').where('tenantId', '=', tenantId).where('identifier', '=', identifier).select(COLUMNS),
);

/** The project of that identifier; a scoped application token finds only its own projects. */
export async function findProject({ db, tenantId }: Reads, identifier: string): Promise<ProjectFacts | undefined> {
  const [project] = await BY_IDENTIFIER(db, { tenantId, identifier });
  return project;
}

const BY_ID = statement<{ tenantId: string; id: string }>()((db, { tenantId, id }) =>
  db.selectFrom('project').where('tenantId', '=', tenantId).where('id', '=', id).select(COLUMNS),
);

export async function projectById({ db, tenantId }: Reads, id: string): Promise<ProjectFacts | undefined> {
  const [project] = await BY_ID(db, { tenantId, id });
  return project;
}

/** For an identifier in a query or a body. Throws `invalid_request` for one that is not registered. */
export async function projectInRequest(
  reads: Reads,
  identifier: string,
  field: 'repositoryIdentifier' | 'projectIdentifier' | 'payload/repositoryIdentifier' = 'repositoryIdentifier',
): Promise<ProjectFacts> {
  const project = await findProject(reads, identifier);
  if (!project) throw unregistered(identifier, field);
  return project;
}

/** For an identifier in a path. Throws `not_found`. `forUpdate`: nobody else changes it until this transaction ends. */
export async function projectInPath(tx: Tx, identifier: string, { forUpdate = false } = {}): Promise<Project> {
  const lock = forUpdate ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {};
  const project = await tx.em.findOne(Project, { tenantId: tx.tenantId, identifier }, lock);
  if (!project) throw notFound(`Project ${identifier}`);
  return project;
}

/** A page of the tenant's projects by identifier, and how many there are. */
export async function listProjects(
  tx: Tx,
  page: { limit: number; offset: number },
): Promise<{ items: Project[]; total: number }> {
  const [items, total] = await tx.em.findAndCount(
    Project,
    { tenantId: tx.tenantId },
    { orderBy: { identifier: 'asc' }, ...page },
  );
  return { items, total };
}
