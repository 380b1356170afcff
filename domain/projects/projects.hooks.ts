import type { RunWorkflowKey } from '../kernel/shared/workflow-path-rules.ts';
import type { Tx } from '../unit-of-work.ts';

/** What an area says where a project is to be removed. */
interface ProjectRemoval {
  /** Something of the project has to end first, which has to be committed; the project stays until then. */
  isPending?: boolean;
  /** Runs of the project whose workflows are to be cancelled. */
  runs?: readonly RunWorkflowKey[];
}

declare module '../kernel/hooks.ts' {
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
