import { idEnd, idPath, idSegment } from '../text/id-segment-rules.ts';

/** What the id of the workflow of a run is made of. */
export interface RunWorkflowKey {
  runId: string;
  taskType: string;
  /**
   * Readable part of the id, as `workflowPathOf` made it; null for a run of a version whose ids held the type and the id of
   * the run.
   */
  workflowPath: string | null;
}

export interface RunPlaces {
  runId: string;
  taskType: string;
  releaseName?: string | null | undefined;
  environmentName?: string | null | undefined;
  repositoryIdentifier?: string | undefined;
}

/**
 * The readable part of the id of a run's workflow: its type, what it is about (release and environment; without any, the
 * repository), and the end of its id.
 */
export function workflowPathOf({
  runId,
  taskType,
  releaseName,
  environmentName,
  repositoryIdentifier,
}: RunPlaces): string {
  const named = [releaseName, environmentName].filter((name) => name !== null && name !== undefined).map(idSegment);
  const about = named.length > 0 || repositoryIdentifier === undefined ? named : [idPath(repositoryIdentifier)];
  return [idSegment(taskType), ...about, idEnd(runId)].join('/');
}
