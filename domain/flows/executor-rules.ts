/** What carries a run out: a program of the operator's list, a pipeline of the git host, the service, or child runs. */
export type ExecutorName = 'command' | 'cicd' | 'activity' | 'children';

export interface FlowTraits {
  /** What a run waits for before it is carried out, when it names an environment. */
  gates: { approval: boolean; lock: boolean };
  /** How the service itself carries the type out; undefined: it does not. */
  own: 'activity' | 'children' | undefined;
  /** Its runs deploy a release to their environment. */
  isDeployment: boolean;
  /** A part of another run that nobody starts by itself. */
  isInternal: boolean;
}

interface Means {
  hasPipeline: boolean;
  hasCommand: boolean;
}

export const DEFAULT_PIPELINE_MINUTES = 60;

/** A pipeline that the caller names goes before the operator's command, and that before what the service does itself. */
export function executorOf(
  { own }: Pick<FlowTraits, 'own'>,
  { hasPipeline, hasCommand }: Means,
): ExecutorName | undefined {
  if (hasPipeline) return 'cicd';
  if (hasCommand) return 'command';
  return own;
}

/** Why a type cannot be carried out here. */
export const whyUnavailable = (id: string): string =>
  `Nothing here carries out ${id}: the operator's list of commands does not name it, and the payload names no pipeline`;
