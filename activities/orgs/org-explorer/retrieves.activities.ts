import {
  componentsOfRetrieve,
  countDue,
  dueComponents,
  leaveOut,
  markRetrieved,
} from '../../../domain/orgs/org-explorer/component-files.queries.ts';
import { Slots } from '../../../domain/kernel/queues/slots.ts';
import { chunkOf, orderOf } from '../../../domain/orgs/org-explorer/retrieve-rules.ts';
import { addProgress } from '../../../domain/orgs/org-explorer/syncs.queries.ts';
import type { Deps } from '../../deps.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import { type Ended, failed, type OnlyComponent, type RefreshJob, type RefreshScope } from './refresh-scope.ts';
import { storeArchive } from './store-archive.ts';

/** Archives that one process stores at the same time: each takes memory and processor. */
const ARCHIVES_AT_ONCE = 3;

/** An order of a refresh. */
interface Order extends RefreshJob {
  retrieveId: string;
  /** Components that were ordered. */
  members: number;
}

type Started =
  | Ended
  | { outcome: 'none' }
  | { outcome: 'started'; retrieveId: string; members: number; due: number; only?: OnlyComponent | undefined };

export function createRetrieveActivities(deps: Deps, scope: RefreshScope) {
  const { txOf, callsOf, stateOf, untilChanged } = scope;
  const storing = new Slots({ works: 'archives', total: ARCHIVES_AT_ONCE });
  return {
    /** Orders the source of the next components that are due. */
    startRetrieve: ({ size, ...job }: RefreshJob & { size: number }): Promise<Started> =>
      withHeartbeat((signal) => startRetrieve(scope, job, size, signal)),

    /** How far an order is; it does not fetch the archive. */
    retrieveState: ({ retrieveId, members, ...job }: Order): Promise<Ended | { outcome: 'waiting' | 'ready' }> =>
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
    storeRetrieved: ({ retrieveId, members, ...job }: Order): Promise<Ended | { outcome: 'stored'; files: number }> =>
      withHeartbeat((signal) =>
        untilChanged(() => storeRetrieved(deps, scope, { retrieveId, members, ...job }, storing, signal)),
      ),

    /**
     * The one component of an order cannot be retrieved: its type is among the failed ones. Nothing happens without
     * `id`, which orders of an earlier release have not: the component is ordered again.
     */
    async leaveOutNext({
      id,
      message: error,
      ...job
    }: RefreshJob & { id?: string | undefined; message: string }): Promise<void> {
      if (id === undefined || 'outcome' in (await stateOf(job))) return;
      await txOf(job)(async (tx) => {
        const left = await leaveOut(tx, [id], error);
        const failedTypes = left.map(({ metadataType, memberName }) => ({
          metadataType,
          error: `${memberName}: ${error}`,
        }));
        await addProgress(tx, job.syncId, { failedTypes });
      });
    },
  };
}

async function startRetrieve(
  { txOf, readsOf, callsOf, stateOf }: RefreshScope,
  job: RefreshJob,
  size: number,
  signal: AbortSignal,
): Promise<Started> {
  const state = await stateOf(job);
  if ('outcome' in state) return state;
  const { org, types: metadataTypes } = state;
  const reads = readsOf(job);
  const chunk = chunkOf(await dueComponents(reads, org, { metadataTypes, limit: size }), size);
  const [first, ...others] = chunk;
  if (!first) return { outcome: 'none' };
  const members = chunk.length;
  const only = others.length === 0 ? { id: first.id, failedBefore: first.contentError !== null } : undefined;
  const answer = await callsOf(job, signal).startRetrieve(orderOf(chunk));
  if (!answer.isOk) return failed('Components could not be ordered', answer, { members, only });
  const { retrieveId } = answer.value;
  const ids = chunk.map(({ id }) => id);
  await txOf(job)((tx) => markRetrieved(tx, ids, retrieveId));
  const due = await countDue(reads, org, metadataTypes);
  return { outcome: 'started', retrieveId, members, due, only };
}

async function storeRetrieved(
  deps: Deps,
  { txOf, readsOf, callsOf, stateOf }: RefreshScope,
  { retrieveId, members, ...job }: Order,
  storing: Slots,
  signal: AbortSignal,
): Promise<Ended | { outcome: 'stored'; files: number }> {
  const state = await stateOf(job);
  if ('outcome' in state) return state;
  const { org } = state;
  const { tenantId, syncId } = job;
  const owners = await componentsOfRetrieve(readsOf(job), job.orgId, retrieveId);
  if (owners.length === 0) return { outcome: 'stored', files: 0 };
  const scope = { ...deps, tx: txOf(job), tenantId, org, syncId, signal };
  const answer = await storing.run(tenantId, () =>
    callsOf(job, signal).download(retrieveId, (archive) => storeArchive(scope, archive, owners)),
  );
  if (!answer.isOk) return failed('Retrieved components could not be fetched', answer, { members });
  const { files, missing } = answer.value;
  const ids = missing.map(({ id }) => id);
  const reason = 'The org lists this component, but does not give its source.';
  if (ids.length > 0) await txOf(job)((tx) => leaveOut(tx, ids, reason));
  return { outcome: 'stored', files };
}
