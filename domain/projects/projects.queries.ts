import { LockMode } from '@mikro-orm/core';
import type { Reads } from '../data/fenced-reads.ts';
import { statement } from '../data/statement.ts';
import { invalidField, notFound } from '../shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';
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

/** For `repositoryIdentifier` in a query or a body. Throws `invalid_request` for one that is not registered. */
export async function projectInRequest(reads: Reads, identifier: string): Promise<ProjectFacts> {
  const project = await findProject(reads, identifier);
  if (!project) throw unregistered(identifier);
  return project;
}

export const unregistered = (identifier: string) =>
  invalidField('repositoryIdentifier', `The repository ${identifier} is not registered as a project`);

/** For an identifier in a path. Throws `not_found`. Locked, nobody else changes it before this transaction ends. */
export async function projectInPath(tx: Tx, identifier: string, { isLocked = false } = {}): Promise<Project> {
  const lock = isLocked ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {};
  const project = await tx.em.findOne(Project, { tenantId: tx.tenantId, identifier }, lock);
  if (!project) throw notFound(`Project ${identifier}`);
  return project;
}

export const countProjects = (tx: Tx): Promise<number> => tx.em.count(Project, { tenantId: tx.tenantId });
