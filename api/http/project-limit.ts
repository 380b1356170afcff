import { assertReachesCollection } from '../../domain/kernel/shared/collection-limit-rules.ts';
import { causes } from '../../domain/kernel/data/database-trouble.ts';
import type { Actor } from '../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../domain/kernel/shared/errors.ts';
import type { AnyRoute } from './define-route.ts';

const refused = (what: string) =>
  new DomainError('forbidden', `Forbidden - The application token is limited to projects, and ${what}`);

/** Refuses routes of the whole tenant to an application token that is limited to projects. Throws `forbidden`. */
export function assertRouteWithinLimit({ projectScope }: AnyRoute, { projectIds }: Actor): void {
  if (projectScope === 'refused' && projectIds) throw refused('this route covers the whole tenant');
}

/** Refuses collections that a limited application token does not reach. Throws `forbidden`. */
export function assertCollectionWithinLimit({ projectScope }: AnyRoute, actor: Actor, params: unknown): void {
  if (projectScope !== 'collection') return;
  const { collectionName } = (params ?? {}) as { collectionName?: string };
  if (collectionName !== undefined) assertReachesCollection(actor, collectionName);
}

/** SQLSTATE of a row that the policies do not let be written. */
const INSUFFICIENT_PRIVILEGE = '42501';

/** Does the work of a request; what a limited application token writes outside its projects is `forbidden`. */
export async function withinLimit<T>({ projectIds }: Actor, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!projectIds || error instanceof DomainError) throw error;
    for (const cause of causes(error)) {
      if ((cause as { code?: string }).code === INSUFFICIENT_PRIVILEGE)
        throw refused('what the request changes belongs to none of them');
    }
    throw error;
  }
}
