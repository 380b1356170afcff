import type { RunWorkflowKey } from '../kernel/shared/workflow-path-rules.ts';
import type { Tx } from '../unit-of-work.ts';
import type { Integration } from './integrations/integrations.entities.ts';
import type { Project } from './projects/projects.entities.ts';

/** What an area says where a project is to be removed. */
interface ProjectRemoval {
  /** Something of the project has to end first, which has to be committed; the project stays until then. */
  isPending?: boolean;
  /** Runs of the project whose workflows are to be cancelled. */
  runs?: readonly RunWorkflowKey[];
}

declare module '../kernel/hooks.port.ts' {
  interface Hooks {
    /** A project was registered or changed. */
    projectChanged: (tx: Tx, project: { id: string; remoteUrl: string | null }) => Promise<void>;
    /** A project is about to be removed with all its rows. */
    projectRemoved: (tx: Tx, projectId: string) => Promise<ProjectRemoval>;
    /** An environment may be deployed to at other times, after others, or from another branch than before. */
    environmentChanged: (tx: Tx, environment: { id: string; projectId: string }) => Promise<void>;
    /** An integration was added, or can be used again. @param projectId null: it is for the whole tenant. */
    integrationChanged: (tx: Tx, integration: { kind: string; projectId: string | null }) => Promise<void>;
  }
}

/** Tells other areas that a project was registered or changed. */
export async function tellOfProject(
  tx: Tx,
  { id, remoteUrl = null }: Pick<Project, 'id' | 'remoteUrl'>,
): Promise<void> {
  for (const then of tx.hooked('projectChanged')) await then(tx, { id, remoteUrl });
}

/** Has other areas let go of a project; answers the runs whose workflows are to be cancelled, undefined: it has to wait. */
export async function letGoOfProject(tx: Tx, projectId: string): Promise<RunWorkflowKey[] | undefined> {
  const runs: RunWorkflowKey[] = [];
  for (const then of tx.hooked('projectRemoved')) {
    const removal = await then(tx, projectId);
    if (removal.isPending) return undefined;
    runs.push(...(removal.runs ?? []));
  }
  return runs;
}

/** Tells other areas that an environment may be deployed to otherwise than before. */
export async function tellOfEnvironment(tx: Tx, environment: { id: string; projectId: string }): Promise<void> {
  for (const then of tx.hooked('environmentChanged')) await then(tx, environment);
}

/** Tells other areas of an integration that can be used. */
export async function tellOfIntegration(
  tx: Tx,
  { kind, projectId = null }: Pick<Integration, 'kind' | 'projectId'>,
): Promise<void> {
  for (const then of tx.hooked('integrationChanged')) await then(tx, { kind, projectId });
}
