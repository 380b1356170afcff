import type { CrmFailure } from '../crm/crm-platform.port.ts';
import { failureText } from '../crm-orgs/tokens/org-failure-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { retryLeftOut, wantSource, type ComponentKey } from './component-files.queries.ts';
import { forgetFormerOrg } from './component-index.queries.ts';
import { countChanges, countComponents } from './components.queries.ts';
import type { ExplorerOrg } from './explorer-org.ts';
import { coversTypes } from './explorer-rules.ts';
import { changeOpenSync, openSyncs, requestSync, type SyncRow } from './syncs.queries.ts';

const note = (tx: Tx, org: Pick<ExplorerOrg, 'id'>, action: string, summary: string, after: Record<string, unknown>) =>
  tx.audit({
    source: 'crm',
    action: `org_explorer.${action}`,
    entityType: 'crm_org',
    entityId: org.id,
    summary,
    after,
  });

/**
 * Asks for a refresh of types, or joins one that does it already.
 * @param metadataTypes null: all.
 * @returns the id of the refresh.
 */
export async function requestRefresh(
  tx: Tx,
  org: ExplorerOrg,
  metadataTypes: readonly string[] | null,
): Promise<{ jobId: string; isJoined: boolean }> {
  const running = (await openSyncs(tx, org.id)).find(({ status }) => status === 'running');
  if (running && coversTypes(running.metadataTypes, metadataTypes)) return { jobId: running.id, isJoined: true };
  const { id: jobId, isNew } = await requestSync(tx, org.id, metadataTypes);
  if (isNew)
    note(tx, org, 'refresh_requested', `Refresh of the metadata of org ${org.username} requested`, {
      jobId,
      metadataTypes,
    });
  return { jobId, isJoined: !isNew };
}

/** Asks for the source of one component, or for its type where no such component is known. */
export async function requestSource(
  tx: Tx,
  org: ExplorerOrg,
  key: ComponentKey,
): Promise<{ jobId: string; isJoined: boolean }> {
  await wantSource(tx, org, key);
  return requestRefresh(tx, org, [key.metadataType]);
}

/**
 * The refresh that a worker does next: the running one, which lost its worker, or the requested one, which begins and
 * asks once more for what earlier ones could not retrieve. What is kept of a sandbox from before its refresh goes.
 * Undefined when there is nothing to do.
 */
export async function beginSync(tx: Tx, org: ExplorerOrg): Promise<SyncRow | undefined> {
  const open = await openSyncs(tx, org.id);
  const next = open.find(({ status }) => status === 'running') ?? open[0];
  if (!next) return undefined;
  await forgetFormerOrg(tx, org);
  if (next.status === 'requested') await retryLeftOut(tx, org, next.metadataTypes);
  return changeOpenSync(tx, next.id, {
    status: 'running',
    platformOrgId: org.platformOrgId,
    startedAt: next.startedAt ?? tx.now.toISOString(),
    step: 'Listing components',
    message: null,
  });
}

/** How a refresh ended. */
export type SyncEnd = { status: 'succeeded' } | { status: 'failed'; message: string };

/** Ends a refresh once; what was read until then stays. */
export async function endSync(tx: Tx, org: ExplorerOrg, id: string, end: SyncEnd): Promise<void> {
  const before = (await openSyncs(tx, org.id)).find((sync) => sync.id === id);
  if (!before) return;
  const durationMs = tx.now.getTime() - new Date(before.startedAt ?? before.createdAt).getTime();
  const componentsCount = await countComponents(tx, org);
  const sync = await changeOpenSync(tx, id, {
    ...end,
    finishedAt: tx.now.toISOString(),
    step: null,
    componentsCount,
    durationMs,
  });
  if (!sync) return;
  const changes = await countChanges(tx, org.id, id);
  const { filesRetrieved, failedTypes, typesCount } = sync;
  const facts = {
    jobId: id,
    status: end.status,
    typesCount,
    componentsCount,
    filesRetrieved,
    changes,
    failedTypes: failedTypes.map(({ metadataType }) => metadataType),
    durationMs,
    error: end.status === 'failed' ? end.message : null,
  };
  const outcome = end.status === 'failed' ? `failed: ${end.message}` : 'is done';
  note(tx, org, 'refreshed', `Refresh of the metadata of org ${org.username} ${outcome}`, facts);
  emitEvent(tx, 'org_explorer.refreshed', { orgUsername: org.username, orgId: org.platformOrgId, ...facts });
}

/** What a failure of the platform means for whoever waits for a refresh. */
export const failureMessage = (what: string, failure: CrmFailure): string =>
  failureText(what, failure).trimEnd().slice(0, 600);
