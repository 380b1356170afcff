import type { Project } from '../../domain/projects/projects.entities.ts';
import { Project as ProjectEntity } from '../../domain/projects/projects.entities.ts';
import type { ReleaseCandidate } from '../../domain/release-candidates/release-candidates.entities.ts';
import { candidateById } from '../../domain/release-candidates/release-candidates.queries.ts';
import { notFound } from '../../domain/shared/errors.ts';
import type { Tx } from '../../domain/unit-of-work.ts';

/** A candidate, as an entity or a row of a list, with the name of its project. */
export const view = <Candidate extends object>(candidate: Candidate, { identifier }: Pick<Project, 'identifier'>) => ({
  ...candidate,
  repositoryIdentifier: identifier,
});

/** A candidate by id with its project. Throws `not_found`. */
export async function candidateWithProject(
  tx: Tx,
  id: string,
  options: { isLocked?: boolean } = {},
): Promise<{ candidate: ReleaseCandidate; project: Project }> {
  const candidate = await candidateById(tx, id, options);
  const project = await tx.em.findOne(ProjectEntity, { tenantId: tx.tenantId, id: candidate.projectId });
  if (!project) throw notFound('The release candidate');
  return { candidate, project };
}
