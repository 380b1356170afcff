import { LockMode } from '@mikro-orm/core';
import { notFound } from '../shared/errors.ts';
import { Project } from '../projects/projects.entities.ts';
import type { Tx } from '../unit-of-work.ts';
import { Environment, type EnvironmentCategory } from './environments.entities.ts';

/** The most environments of one project: lists of them are not paged. */
export const ENVIRONMENTS_MAX = 500;

/** Environments of a project in the order in which releases travel through them. */
export const listEnvironments = (tx: Tx, projectId: string, category?: EnvironmentCategory): Promise<Environment[]> =>
  tx.em.find(
    Environment,
    { tenantId: tx.tenantId, projectId, ...(category && { category }) },
    { orderBy: { orchestrationOrder: 'asc', name: 'asc' }, limit: ENVIRONMENTS_MAX },
  );

/** An environment with its project. Throws `not_found`. Locked, nobody else changes it before this transaction ends. */
export async function environmentById(tx: Tx, id: string, { isLocked = false } = {}) {
  const lock = isLocked ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {};
  const environment = await tx.em.findOne(Environment, { tenantId: tx.tenantId, id }, lock);
  const project = environment && (await tx.em.findOne(Project, { tenantId: tx.tenantId, id: environment.projectId }));
  if (!project) throw notFound('The environment');
  return { environment, project };
}

export const environmentByName = (tx: Tx, projectId: string, name: string): Promise<Environment | null> =>
  tx.em.findOne(Environment, { tenantId: tx.tenantId, projectId, name });
