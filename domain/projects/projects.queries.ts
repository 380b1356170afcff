import { LockMode } from '@mikro-orm/core';
import type { ActorReads } from '../data/fenced-reads.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';
import { Project } from './projects.entities.ts';

/** What of a project most reads of its things need. */
export type ProjectFacts = Pick<Project, 'id' | 'identifier' | 'defaultBranch' | 'configuration'>;

/** For `repositoryIdentifier` in a query that is read without a transaction: unknown is 400. */
export async function projectForReads({ sql, tenantId }: ActorReads, identifier: string): Promise<ProjectFacts> {
  const [project] = await sql<ProjectFacts>(
    'select id, identifier, default_branch as "defaultBranch", configuration from project where tenant_id = ? and identifier = ?',
    [tenantId, identifier],
  );
  if (!project) throw unregistered(identifier, 'query');
  return project;
}

/** The project of that identifier, or null; a scoped application token finds only its own projects. */
export const findProject = (tx: Tx, identifier: string): Promise<Project | null> =>
  tx.em.findOne(Project, { tenantId: tx.tenantId, identifier });

/** For an identifier in a path: unknown is 404. Locked, nobody else changes it before this transaction ends. */
export async function projectInPath(tx: Tx, identifier: string, { isLocked = false } = {}): Promise<Project> {
  const lock = isLocked ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {};
  const project = await tx.em.findOne(Project, { tenantId: tx.tenantId, identifier }, lock);
  if (!project) throw notFound(`Project ${identifier}`);
  return project;
}

/** For `repositoryIdentifier` in a query or a body: unknown is 400. */
export async function projectInRequest(tx: Tx, identifier: string, place: 'query' | 'body'): Promise<Project> {
  const project = await findProject(tx, identifier);
  if (!project) throw unregistered(identifier, place);
  return project;
}

export const unregistered = (identifier: string, place: 'query' | 'body') =>
  new DomainError('invalid_request', `The repository ${identifier} is not registered as a project`, {
    fields: [{ pointer: `#/${place}/repositoryIdentifier`, detail: 'not a registered project' }],
  });

export const countProjects = (tx: Tx): Promise<number> => tx.em.count(Project, { tenantId: tx.tenantId });
