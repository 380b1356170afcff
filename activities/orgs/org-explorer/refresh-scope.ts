import type { CrmFailure } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { componentTypes } from '../../../domain/orgs/org-explorer/component-types.queries.ts';
import { ContentNotStored } from '../../../domain/orgs/org-explorer/contents.ts';
import { type ExplorerOrg, orgById } from '../../../domain/orgs/org-explorer/explorer-org.ts';
import { OrgChanged } from '../../../domain/orgs/org-explorer/index.mutations.ts';
import { OBJECT_STORE } from '../../../domain/orgs/org-explorer/retrieve-rules.ts';
import { failureMessage } from '../../../domain/orgs/org-explorer/syncs.mutations.ts';
import { openSyncs } from '../../../domain/orgs/org-explorer/syncs.queries.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import type { OrgExplorerInput } from '../../../workflows/orgs/org-explorer/org-explorer.contract.ts';
import type { Deps } from '../../deps.ts';

/** A refresh that is under way. */
export interface RefreshJob extends OrgExplorerInput {
  syncId: string;
  username: string;
  /** How long to wait while the org's calls are used up. */
  pauseMs: number;
  /** How long to wait before the state of an order is first asked for. */
  pollMs?: number;
}

/** The org was removed, or its refresh was ended. */
interface Gone {
  outcome: 'gone';
}
/** The org is a sandbox that was refreshed meanwhile. */
interface Moved {
  outcome: 'moved';
}
/** The one component of an order. */
export interface OnlyComponent {
  id: string;
  /** An earlier refresh left it out. */
  failedBefore: boolean;
}
export interface Failed {
  outcome: 'failed';
  kind: CrmFailure['kind'];
  code: string | null;
  /** For people. */
  message: string;
  /** Components that were ordered. */
  members: number;
  only?: OnlyComponent | undefined;
  /** The retrieve ended as failed, because of a component of it. */
  isRefusedByOrg: boolean;
}
export type Ended = Gone | Moved | Failed;

const GONE: Gone = { outcome: 'gone' };
const MOVED: Moved = { outcome: 'moved' };
const STORE_FULL =
  'The object store does not take files: what is kept stays as it was. Refresh again when it has room.';

/** @param what could not be done, for people. */
export const failed = (
  what: string,
  failure: CrmFailure,
  { members = 0, isRefusedByOrg = false, only }: Partial<Pick<Failed, 'members' | 'isRefusedByOrg' | 'only'>> = {},
): Failed => ({
  outcome: 'failed',
  kind: failure.kind,
  code: failure.code,
  message: failureMessage(what, failure),
  members,
  only,
  isRefusedByOrg,
});

export type RefreshScope = ReturnType<typeof createRefreshScope>;

/** What the activities of a refresh share: the rows and calls of its org, and what may end it meanwhile. */
export function createRefreshScope(deps: Deps) {
  const readsOf = (input: OrgExplorerInput) => deps.reads.as(systemActor(input, 'org-explorer'));
  return {
    readsOf,
    txOf: (input: OrgExplorerInput) => deps.actingAs(systemActor(input, 'org-explorer')),
    callsOf: ({ tenantId, tenantSlug, orgId }: OrgExplorerInput, signal?: AbortSignal) =>
      deps.crm.connections.callOrg({ tenantId, tenantSlug, orgId }, { isBackground: true, signal }),

    /** The org of a refresh that is still under way, and what it reads; types null: all. */
    async stateOf(job: RefreshJob): Promise<Gone | Moved | { org: ExplorerOrg; types: string[] | null }> {
      const reads = readsOf(job);
      const [org, open] = await Promise.all([orgById(reads, job.orgId), openSyncs(reads, job.orgId)]);
      const sync = open.find(({ id }) => id === job.syncId);
      if (!org || !sync) return GONE;
      if (sync.platformOrgId !== org.platformOrgId) return MOVED;
      if (sync.metadataTypes === null) return { org, types: null };
      const names = new Set(sync.metadataTypes);
      const parents = (await componentTypes(reads, org)).flatMap(({ metadataType, description }) =>
        names.has(metadataType) && description?.parentType ? [description.parentType] : [],
      );
      return { org, types: [...new Set([...names, ...parents])] };
    },

    /** Work that another process may have made pointless, or for whose files there is no room. */
    async untilChanged<Result>(work: () => Promise<Result>): Promise<Result | Moved | Failed> {
      try {
        return await work();
      } catch (error) {
        if (error instanceof OrgChanged) return MOVED;
        if (!(error instanceof ContentNotStored)) throw error;
        deps.log.error({ err: error }, 'files of an org could not be stored');
        const code = OBJECT_STORE;
        return { outcome: 'failed', kind: 'refused', code, message: STORE_FULL, members: 0, isRefusedByOrg: false };
      }
    },
  };
}
