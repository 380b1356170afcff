import type { CrmFailure } from '../../domain/crm/crm-platform.port.ts';
import {
  componentsOfRetrieve,
  countDue,
  dueComponents,
  leaveOut,
  markRetrieved,
} from '../../domain/org-explorer/component-files.queries.ts';
import {
  componentTypes,
  describeTypes,
  forgetUnknownTypes,
  noteFailedTypes,
} from '../../domain/org-explorer/component-index.queries.ts';
import { ContentNotStored } from '../../domain/org-explorer/contents.ts';
import { type ExplorerOrg, orgById } from '../../domain/org-explorer/explorer-org.ts';
import { indexType, OrgChanged } from '../../domain/org-explorer/index.mutations.ts';
import { indexedComponent, planListing } from '../../domain/org-explorer/listing-rules.ts';
import { chunkOf, OBJECT_STORE, orderOf } from '../../domain/org-explorer/retrieve-rules.ts';
import { beginSync, endSync, failureMessage, type SyncEnd } from '../../domain/org-explorer/syncs.mutations.ts';
import { addProgress, changeOpenSync, openSyncs } from '../../domain/org-explorer/syncs.queries.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import type { OrgExplorerInput } from '../../workflows/org-explorer/org-explorer.contract.ts';
import type { Deps } from '../deps.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { listOrg } from './list-org.ts';
import { storeArchive } from './store-archive.ts';

/** A refresh that is under way. */
export interface RefreshJob extends OrgExplorerInput {
  syncId: string;
  username: string;
  /** How long to wait while the org's calls are used up. */
  pauseMs: number;
}

/** The org was removed, or its refresh was ended. */
interface Gone {
  outcome: 'gone';
}
/** The org is a sandbox that was refreshed meanwhile. */
interface Moved {
  outcome: 'moved';
}
export interface Failed {
  outcome: 'failed';
  kind: CrmFailure['kind'];
  code: string | null;
  /** For people. */
  message: string;
  /** Components that were ordered. */
  members: number;
  /** The retrieve ended as failed, because of a component of it. */
  isRefusedByOrg: boolean;
}
type Ended = Gone | Moved | Failed;

/** Archives that one process stores at the same time: each takes memory and processor. */
const ARCHIVES_AT_ONCE = 3;

const GONE: Gone = { outcome: 'gone' };
const MOVED: Moved = { outcome: 'moved' };
const STORE_FULL =
  'The object store does not take files: what is kept stays as it was. Refresh again when it has room.';

const failed = (
  what: string,
  failure: CrmFailure,
  { members = 0, isRefusedByOrg = false }: { members?: number; isRefusedByOrg?: boolean } = {},
): Failed => ({
  outcome: 'failed',
  kind: failure.kind,
  code: failure.code,
  message: failureMessage(what, failure),
  members,
  isRefusedByOrg,
});

export function createOrgExplorerActivities(deps: Deps) {
  const storing = createPlaces(ARCHIVES_AT_ONCE);
  const txOf = (input: OrgExplorerInput) => deps.actingAs(systemActor(input, 'org-explorer'));
  const readsOf = (input: OrgExplorerInput) => deps.reads.as(systemActor(input, 'org-explorer'));
  const callsOf = ({ tenantId, tenantSlug, orgId }: OrgExplorerInput, signal?: AbortSignal) =>
    deps.crm.connections.callOrg({ tenantId, tenantSlug, orgId }, { isBackground: true, signal });

  /** The org of a refresh that is still under way, and what it reads; types null: all. */
  const stateOf = async (job: RefreshJob): Promise<Gone | Moved | { org: ExplorerOrg; types: string[] | null }> => {
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
  };

  return {
    /** Begins the refresh that was requested, or goes on with one that lost its workflow. */
    async beginRefresh(input: OrgExplorerInput): Promise<RefreshJob | null> {
      const begun = await txOf(input)(async (tx) => {
        const org = await orgById(tx, input.orgId);
        const sync = org && (await beginSync(tx, org));
        return sync && { syncId: sync.id, username: org.username };
      });
      return begun ? { ...input, ...begun, pauseMs: deps.orgExplorer.pauseSeconds * 1_000 } : null;
    },

    /** Brings the index of components up to date with what the org lists. */
    listComponents: (job: RefreshJob): Promise<Ended | { outcome: 'listed'; types: number; due: number }> =>
      withHeartbeat((signal) =>
        untilChanged(async () => {
          const calls = callsOf(job, signal);
          const described = await calls.describeMetadata();
          if (!described.isOk) return failed('The types of the org could not be read', described);
          // After the first call, which may have found that the org is another one.
          const state = await stateOf(job);
          if ('outcome' in state) return state;
          const { org } = state;
          const tx = txOf(job);
          const sync = (await openSyncs(readsOf(job), job.orgId)).find(({ id }) => id === job.syncId);
          const { types, unknown } = planListing(described.value, sync?.metadataTypes ?? null);
          const fail = async (names: readonly string[], error: string) => {
            const failedTypes = names.map((metadataType) => ({ metadataType, error }));
            if (failedTypes.length === 0) return;
            await tx(async (work) => {
              await noteFailedTypes(work, org, failedTypes);
              await addProgress(work, job.syncId, { failedTypes });
            });
          };
          await tx(async (work) => {
            await describeTypes(work, org, types);
            if (state.types === null) await forgetUnknownTypes(work, org, types);
          });
          await fail(unknown, 'The org has no such type');
          let listed = 0;
          const stopped = await listOrg(calls, types, {
            async onListed(type, components) {
              signal.throwIfAborted();
              const rows = components.map((component) => indexedComponent(component, type, deps.orgExplorer.indexOnly));
              await tx((work) => indexType(work, { org, syncId: job.syncId, type }, rows));
              listed++;
            },
            onFailed: ({ metadataType }, { message }) => fail([metadataType], message),
          });
          if (stopped) return failed('The components of the org could not be listed', stopped);
          const due = await countDue(readsOf(job), org, state.types);
          const step = `Retrieving ${due} components`;
          await tx((work) => changeOpenSync(work, job.syncId, { typesCount: listed, step, message: null }));
          return { outcome: 'listed', types: listed, due };
        }),
      ),

    /** Orders the source of the next components that are due. */
    startRetrieve: ({
      size,
      ...job
    }: RefreshJob & { size: number }): Promise<
      Ended | { outcome: 'none' } | { outcome: 'started'; retrieveId: string; members: number; due: number }
    > =>
      withHeartbeat(async (signal) => {
        const state = await stateOf(job);
        if ('outcome' in state) return state;
        const { org, types: metadataTypes } = state;
        const reads = readsOf(job);
        const chunk = chunkOf(await dueComponents(reads, org, { metadataTypes, limit: size }), size);
        if (chunk.length === 0) return { outcome: 'none' };
        const answer = await callsOf(job, signal).startRetrieve(orderOf(chunk));
        if (!answer.isOk) return failed('Components could not be ordered', answer, { members: chunk.length });
        const { retrieveId } = answer.value;
        await txOf(job)((tx) =>
          markRetrieved(
            tx,
            chunk.map(({ id }) => id),
            retrieveId,
          ),
        );
        const due = await countDue(reads, org, metadataTypes);
        return { outcome: 'started', retrieveId, members: chunk.length, due };
      }),

    /** How far an order is; it does not fetch the archive. */
    retrieveState: ({
      retrieveId,
      members,
      ...job
    }: RefreshJob & { retrieveId: string; members: number }): Promise<Ended | { outcome: 'waiting' | 'ready' }> =>
      withHeartbeat(async (signal) => {
        const state = await stateOf(job);
        if ('outcome' in state) return state;
        await txOf(job)((tx) => addProgress(tx, job.syncId, {}));
        const answer = await callsOf(job, signal).retrieveStatus(retrieveId);
        if (!answer.isOk) return failed('The state of an order could not be read', answer, { members });
        const { state: retrieve, errorCode: code, errorMessage } = answer.value;
        if (retrieve === 'succeeded') return { outcome: 'ready' };
        if (retrieve !== 'failed') return { outcome: 'waiting' };
        const message = errorMessage ?? 'The org gave no reason.';
        const refusal = { isOk: false, kind: 'refused', code, message, hint: '' } as const;
        return failed('The org did not retrieve components', refusal, { members, isRefusedByOrg: true });
      }),

    /** Fetches an archive, which the org then deletes, and stores its files; components that it lacks are left out. */
    storeRetrieved: ({
      retrieveId,
      members,
      ...job
    }: RefreshJob & { retrieveId: string; members: number }): Promise<Ended | { outcome: 'stored'; files: number }> =>
      withHeartbeat((signal) =>
        untilChanged(async () => {
          const state = await stateOf(job);
          if ('outcome' in state) return state;
          const { org } = state;
          const { tenantId, syncId } = job;
          const owners = await componentsOfRetrieve(readsOf(job), job.orgId, retrieveId);
          if (owners.length === 0) return { outcome: 'stored', files: 0 };
          const scope = { ...deps, tx: txOf(job), tenantId, org, syncId, signal };
          const answer = await storing(() =>
            callsOf(job, signal).download(retrieveId, (archive) => storeArchive(scope, archive, owners)),
          );
          if (!answer.isOk) return failed('Retrieved components could not be fetched', answer, { members });
          const { files, missing } = answer.value;
          if (missing.length > 0)
            await txOf(job)((tx) =>
              leaveOut(
                tx,
                missing.map(({ id }) => id),
                'The org lists this component, but does not give its source.',
              ),
            );
          return { outcome: 'stored', files };
        }),
      ),

    /** The next component that is due cannot be retrieved: its type is among the failed ones. */
    async leaveOutNext({ message: error, ...job }: RefreshJob & { message: string }): Promise<void> {
      const state = await stateOf(job);
      if ('outcome' in state) return;
      const [next] = await dueComponents(readsOf(job), state.org, { metadataTypes: state.types, limit: 1 });
      if (!next) return;
      const { id, metadataType, memberName } = next;
      await txOf(job)(async (tx) => {
        await leaveOut(tx, [id], error);
        await addProgress(tx, job.syncId, { failedTypes: [{ metadataType, error: `${memberName}: ${error}` }] });
      });
    },

    /** What the refresh waits for, for whoever asks. */
    async noteWaiting({ message, ...job }: RefreshJob & { message: string | null }): Promise<void> {
      await txOf(job)((tx) => changeOpenSync(tx, job.syncId, { message }));
    },

    /** Ends the refresh; nothing happens to one that ended or was removed with its org. */
    async endRefresh({ end, ...job }: RefreshJob & { end: SyncEnd }): Promise<void> {
      await txOf(job)(async (tx) => {
        const org = await orgById(tx, job.orgId);
        if (org) await endSync(tx, org, job.syncId, end);
      });
    },
  };

  /** Work that another process may have made pointless, or for whose files there is no room. */
  async function untilChanged<Result>(work: () => Promise<Result>): Promise<Result | Moved | Failed> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof OrgChanged) return MOVED;
      if (!(error instanceof ContentNotStored)) throw error;
      deps.log.error({ err: error }, 'files of an org could not be stored');
      return {
        outcome: 'failed',
        kind: 'refused',
        code: OBJECT_STORE,
        message: STORE_FULL,
        members: 0,
        isRefusedByOrg: false,
      };
    }
  }
}
export type OrgExplorerActivities = ReturnType<typeof createOrgExplorerActivities>;

/** So many works at once; the others wait their turn. */
function createPlaces(places: number) {
  let free = places;
  const waiting: (() => void)[] = [];
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
