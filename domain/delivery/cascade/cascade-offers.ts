import { projectById } from '../../projects/projects/projects.queries.ts';
import type { Tx } from '../../unit-of-work.ts';
import { CASCADE_MERGE } from '../flows/flow-types.ts';
import type { OfferedType } from '../flows/runs.hooks.ts';
import { whyNoStep } from './cascade-rules.ts';

/** Why the service cannot merge a branch into the next of the cascade; null: it can. */
export async function whyNotCascade(tx: Tx, { id, projectId, run }: OfferedType): Promise<string | null> {
  if (id !== CASCADE_MERGE || !run) return null;
  const project = projectId === undefined ? undefined : await projectById(tx, projectId);
  if (!project) return 'A cascade is that of a project: name its repositoryIdentifier';
  if (project.remoteUrl === null) return 'The project has no remoteUrl';
  const { branch } = run.payload;
  return whyNoStep(project.configuration.cascade ?? [], typeof branch === 'string' ? branch : undefined);
}
