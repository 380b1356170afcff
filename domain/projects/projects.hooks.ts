import type { RunWorkflowKey } from '../kernel/shared/workflow-path-rules.ts';
import type { Warning } from '../kernel/shared/warning-rules.ts';
import type { Tx } from '../unit-of-work.ts';
import type { Project } from './projects/projects.entities.ts';

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
    projectChanged: (
      tx: Tx,
      project: Pick<Project, 'id' | 'identifier' | 'remoteUrl' | 'configuration'>,
    ) => Promise<void>;
    /** A project is shown: what is known of its remote, and does not fit what the project says of it. */
    remoteDoubted: (tx: Tx, project: Pick<Project, 'id' | 'defaultBranch' | 'configuration'>) => Promise<Warning[]>;
    /** A project is about to be removed with all its rows. */
    projectRemoved: (tx: Tx, projectId: string) => Promise<ProjectRemoval>;
    /** An environment names an org: the username by which that is registered, if it is. Throws `ambiguous`. */
    orgNamed: (tx: Tx, name: string) => Promise<string | undefined>;
    /** An environment may be deployed to at other times, after others, or from another branch than before. */
    environmentChanged: (tx: Tx, environment: { id: string; projectId: string }) => Promise<void>;
    /** An integration was added, or can be used again. @param projectId null: it is for the whole tenant. */
    integrationChanged: (tx: Tx, integration: { kind: string; projectId: string | null }) => Promise<void>;
  }
}
