import { GIT_QUEUE } from '../../queues.contract.ts';
import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { defineContract, defineSignal, type Launch } from '../../launch.ts';
import { idEnd, idPath } from '../../../domain/kernel/text/id-segment-rules.ts';

/** The one mirror of a project's repository: its fetches never overlap. */
export interface MirrorInput extends TenantKey {
  projectId: string;
  repositoryIdentifier: string;
}

/** What a fetch came to. */
export type MirrorReport =
  | { outcome: 'fetched' | 'nothing' }
  | {
      outcome: 'failed';
      /** Why the remote cannot be read, for people. */
      reason: string;
      /** Somebody must act, and that was not so, or for another reason, the last time. */
      isNewsForPeople: boolean;
    };

/** The remote may have something new. */
export const fetchSignal = defineSignal('fetch');

export const gitMirrorContract = defineContract('gitMirror', {
  taskQueue: GIT_QUEUE,
  workflowId: ({ tenantSlug, repositoryIdentifier, projectId }) =>
    `${tenantSlug}/git-mirror/${idPath(repositoryIdentifier)}/${idEnd(projectId)}`,
  summary: ({ repositoryIdentifier }) => `Mirror of ${repositoryIdentifier}`,
  searchAttributes: ({ tenantSlug, projectId, repositoryIdentifier }) => ({
    Tenant: tenantSlug,
    Repository: repositoryIdentifier,
    TaskType: 'git-mirror',
    EntityId: projectId,
  }),
});

/** Requests for one mirror within this time are coalesced into one more: pushes come in bursts. */
const QUIET_MS = 500;

/** Requests a fetch after a commit, without waiting; lost signals are recovered by the sweeper. */
export const signalMirror = (launch: Launch, mirror: MirrorInput): void =>
  launch.signalWithStartInBackground(gitMirrorContract, mirror, fetchSignal, QUIET_MS);

/** Requests a fetch likewise after `waitMs`. */
export function signalMirrorLater(launch: Launch, { waitMs, ...mirror }: MirrorInput & { waitMs: number }): void {
  if (waitMs <= 0) signalMirror(launch, mirror);
  else setTimeout(() => signalMirror(launch, mirror), waitMs).unref();
}
