import { sql } from 'kysely';
import { batch } from '../../kernel/data/batches.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { ComponentChange } from './explorer-rules.ts';
import type { ExplorerOrg } from './explorer-org.ts';
import type { ComponentKey } from './component-files.queries.ts';

export interface NotedChange extends ComponentKey {
  change: ComponentChange;
  modifiedAt: string | null;
  modifiedBy: string | null;
  beforeHash: string | null;
  afterHash: string | null;
}

export async function noteChanges(
  { db, tenantId }: Tx,
  { org, syncId }: { org: ExplorerOrg; syncId: string | null },
  changes: readonly NotedChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map((change) => ({ ...change, id: newId() }));
  const common = { tenantId, orgId: org.id, platformOrgId: org.platformOrgId };
  await sql`
    insert into org_component_change (id, tenant_id, org_id, platform_org_id, sync_id, metadata_type, member_name, change,
      modified_at, modified_by, before_hash, after_hash)
    select id, ${common.tenantId}::uuid, ${common.orgId}::uuid, ${common.platformOrgId}, ${syncId}::uuid, metadata_type,
      member_name, change, modified_at, modified_by, before_hash, after_hash
    from ${batch('rows', rows, {
      id: 'uuid',
      metadataType: 'text',
      memberName: 'text',
      change: 'text',
      modifiedAt: 'timestamptz(3)',
      modifiedBy: 'text',
      beforeHash: 'text',
      afterHash: 'text',
    })}`.execute(db);
}
