import { defineEntity, p } from '@mikro-orm/core';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { GrantState } from './privilege-rules.ts';

/** A permission set that a run gives a person in an org for a time. */
export const PrivilegeGrantSchema = defineEntity({
  name: 'PrivilegeGrant',
  tableName: 'privilege_grant',
  properties: {
    ...tenantOwned,
    /** Not a reference: it is taken back although the run was removed with its project. */
    runId: p.uuid(),
    /** The registered org; not a reference, likewise. */
    orgId: p.uuid(),
    orgUsername: p.text(),
    username: p.text(),
    /** Id of the person in the org. */
    userId: p.text(),
    permissionSet: p.text(),
    /** Id of the permission set or group in the org. */
    setId: p.text(),
    isGroup: p.boolean(),
    state: p.text().$type<GrantState>().default('intended'),
    assignmentId: p.text().nullable(),
    /** When it ends; the org is told, too. */
    expiresAt: p.datetime(3),
    takenBackAt: p.datetime(3).nullable(),
    /** Why the org did not grant it, or did not take it back the last time. */
    error: p.text().nullable(),
  },
});
export class PrivilegeGrant extends PrivilegeGrantSchema.class {}
PrivilegeGrantSchema.setClass(PrivilegeGrant);
