import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { forgetFormerOrg, removeUnseen } from './component-index.queries.ts';
import { countTypes, noteFailedTypes } from './component-types.queries.ts';
import { countChanges, countComponents } from './components.queries.ts';
import type { ExplorerOrg } from './explorer-org.ts';
import type { FailedType } from './explorer-rules.ts';
import { insertIngest } from './syncs.queries.ts';
import { assertStillSame } from './ingest.mutations.ts';

/** What a worker outside says when it has reported all components of types. */
export interface ReportedSync {
  typeNames: readonly string[];
  syncedAt: Date;
  durationMs: number;
  typesCount: number;
  componentsCount: number;
  filesRetrieved: number;
  failedTypes: readonly FailedType[];
}

/** Records a sync from outside: components of its types that it did not report are gone, except of failed types. */
export async function ingestSync(tx: Tx, org: ExplorerOrg, sync: ReportedSync): Promise<void> {
  // What is removed below must not be what a refresh reads of another org meanwhile.
  await assertStillSame(tx, org, { isLocked: true });
  await forgetFormerOrg(tx, org);
  const failed = new Set(sync.failedTypes.map(({ metadataType }) => metadataType));
  const metadataTypes = [...new Set(sync.typeNames)].filter((type) => !failed.has(type));
  // A worker's clock may be ahead of ours, by which its components were seen.
  const startedAt = new Date(Math.min(sync.syncedAt.getTime(), tx.now.getTime()) - sync.durationMs);
  const { typesCount, componentsCount, filesRetrieved, durationMs, failedTypes } = sync;
  const { id } = await insertIngest(tx, {
    typesCount,
    componentsCount,
    filesRetrieved,
    durationMs,
    failedTypes,
    orgId: org.id,
    platformOrgId: org.platformOrgId,
    metadataTypes: [...new Set(sync.typeNames)],
    startedAt,
    finishedAt: sync.syncedAt,
  });
  await removeUnseen(tx, { org, syncId: id }, { metadataTypes, before: startedAt });
  await countTypes(tx, org, metadataTypes, { syncedAt: sync.syncedAt, isListed: false });
  if (sync.failedTypes.length > 0) await noteFailedTypes(tx, org, sync.failedTypes);
  const changes = await countChanges(tx, org.id, id);
  const facts = {
    jobId: id,
    status: 'succeeded' as const,
    typesCount,
    componentsCount: await countComponents(tx, org),
    filesRetrieved,
    changes,
    failedTypes: [...failed],
    durationMs,
    error: null,
  };
  tx.audit({
    source: 'crm',
    action: 'org_explorer.sync_reported',
    entityType: 'crm_org',
    entityId: org.id,
    summary: `Sync of ${metadataTypes.length} types of org ${org.username} reported`,
    after: facts,
  });
  emitEvent(tx, 'org_explorer.refreshed', { orgUsername: org.username, orgId: org.platformOrgId, ...facts });
}
