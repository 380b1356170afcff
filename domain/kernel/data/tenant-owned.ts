import { p } from '@mikro-orm/core';
import { newId } from '../shared/ids.ts';

/** Columns of every row that belongs to a tenant; row-level security reads `tenant_id`. */
export const tenantOwned = {
  id: p
    .uuid()
    .primary()
    .onCreate(() => newId()),
  tenantId: p.uuid(),
  createdAt: p
    .datetime(3)
    .defaultRaw('now()')
    .onCreate(() => new Date()),
  updatedAt: p
    .datetime(3)
    .defaultRaw('now()')
    // The same moment: a row that was never changed says so.
    .onCreate(({ createdAt }: { createdAt?: Date }) => createdAt ?? new Date())
    .onUpdate(() => new Date()),
};
