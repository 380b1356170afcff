import { defineContract, type Launch } from '../launch.ts';

/** The one mirror of a project's repository: fetches of it never run beside each other. */
export interface MirrorInput {
  tenantId: string;
  projectId: string;
  repositoryIdentifier: string;
}

export const GIT_QUEUE = 'git-v1';

/** Tells a mirror that its remote may have something new. */
export const FETCH_SIGNAL = 'fetch';

export const gitMirrorContract = defineContract<MirrorInput>({
  workflow: 'gitMirror',
  taskQueue: GIT_QUEUE,
  workflowId: ({ tenantId, projectId }) => `${tenantId}/git-mirror/${projectId}`,
  summary: ({ repositoryIdentifier }) => `Mirror of ${repositoryIdentifier}`,
  searchAttributes: ({ tenantId, projectId, repositoryIdentifier }) => ({
    Tenant: tenantId,
    Repository: repositoryIdentifier,
    TaskType: 'git-mirror',
    EntityId: projectId,
  }),
});

/** Wakes of one mirror within this time become one more: pushes come in bursts. */
const QUIET_AFTER_WAKE_MS = 500;

/** Asks for a fetch after a commit, without waiting; the sweep makes good for a wake that is lost. */
export const wakeMirror = (launch: Launch, mirror: MirrorInput): void =>
  launch.wake(gitMirrorContract, mirror, FETCH_SIGNAL, QUIET_AFTER_WAKE_MS);
