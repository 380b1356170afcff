import { contentKey } from '../../../domain/orgs/org-explorer/contents.ts';
import { beginRemoval, endRemoval, unusedContents } from '../../../domain/orgs/org-explorer/contents.queries.ts';
import { purgeHistory, stalledSyncs } from '../../../domain/orgs/org-explorer/syncs.queries.ts';
import { orgExplorerContract, refreshSignal } from '../../../workflows/orgs/org-explorer/org-explorer.contract.ts';
import { defineChore, defineSweep } from '../../kernel/system/define-sweep.ts';

/** The signal of a request that has not begun for so long was lost. */
const REQUESTED_MAX_SECONDS = 15;
/** A refresh that nothing moved for so long may have lost its workflow. */
const RUNNING_MAX_SECONDS = 600;
const MINUTE_MS = 60_000;
const HISTORY_DAYS = 400;

/** Starts refreshes whose signal was lost, and those whose workflow somebody ended. */
export const orgSyncsSweep = defineSweep({
  name: 'org-syncs',
  limit: 200,
  due: ({ system }, limit) =>
    stalledSyncs(system, { requestedSeconds: REQUESTED_MAX_SECONDS, runningSeconds: RUNNING_MAX_SECONDS, limit }),
  key: ({ orgId }) => orgId,
  async handle({ launch }, { tenantId, tenantSlug, orgId, username }) {
    const input = { tenantId, tenantSlug, orgId, username };
    // A request waits for the refresh that is running.
    if ((await launch.stateOf(orgExplorerContract, input)) === 'running') return 0;
    await launch.signalWithStart(orgExplorerContract, input, refreshSignal);
    return 1;
  },
});

/** Removes contents that no component has had for a day. */
export const unusedContentsSweep = defineSweep({
  name: 'unused-org-contents',
  // Nearly three million a day are looked at.
  everyMs: MINUTE_MS,
  limit: 2_000,
  isRoutine: true,
  due: ({ system }, limit) => unusedContents(system, limit),
  key: ({ tenantId, sha256 }) => `${tenantId} ${sha256}`,
  async handle({ system, objects }, content) {
    const removingSince = await beginRemoval(system, content);
    if (removingSince === undefined) return 0;
    await objects.remove(contentKey(content.tenantId, content.sha256));
    await endRemoval(system, content, removingSince);
    return 1;
  },
});

/** Removes old changes of orgs, and old syncs. */
export const orgHistoryChore = defineChore({
  name: 'org-history',
  run: ({ system }) => purgeHistory(system, HISTORY_DAYS),
});
