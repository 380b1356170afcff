import type { Encryption } from '../kernel/encryption/encryption.ts';
import { notFound } from '../kernel/shared/errors.ts';
import { newId } from '../kernel/shared/ids.ts';
import type { Tx } from '../unit-of-work.ts';
import { newMockKey } from './mock-keys.ts';
import { lockWorkspace, workspaceByName } from './mocks.queries.ts';

/** A workspace, locked; it is made where there is none. */
export async function workspaceOf(tx: Tx, encryption: Encryption, name: string) {
  if (!(await workspaceByName(tx, name))) {
    const id = newId();
    await tx.db
      .insertInto('mock_workspace')
      .values({ id, tenantId: tx.tenantId, name, ...newMockKey(encryption, id) })
      .onConflict((conflict) => conflict.columns(['tenantId', 'name']).doNothing())
      .execute();
  }
  const workspace = await lockWorkspace(tx, name);
  if (!workspace) throw notFound('The workspace');
  return workspace;
}

/** Gives a workspace another key; the one before it leads nowhere from now on. Throws `not_found`. */
export async function rotateMockKey(tx: Tx, encryption: Encryption, workspaceName: string) {
  const workspace = await lockWorkspace(tx, workspaceName);
  if (!workspace) throw notFound('The workspace');
  const { key, keyHash } = newMockKey(encryption, workspace.id);
  await tx.db
    .updateTable('mock_workspace')
    .set({ key, keyHash, updatedAt: tx.now })
    .where('tenantId', '=', tx.tenantId)
    .where('id', '=', workspace.id)
    .execute();
  tx.audit({
    source: 'mock',
    action: 'mock_workspace.key_rotated',
    entityType: 'mock_workspace',
    entityId: workspace.id,
    summary: `Key of the mock workspace ${workspaceName} rotated`,
  });
  return { workspaceId: workspace.id, key };
}
