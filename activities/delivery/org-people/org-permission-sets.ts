import type { Assignment, PermissionSet } from '../../../domain/delivery/org-people/privilege-rules.ts';
import {
  assignmentsOf,
  NAMES_PER_QUERY,
  permissionSetGroupsNamed,
  permissionSetsNamed,
} from '../../../domain/delivery/org-people/people-soql-rules.ts';
import type { CrmOrg, CrmRow } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { longId } from '../../../domain/orgs/crm/org-id-rules.ts';
import { partsOf } from '../../../domain/kernel/shared/at-once-rules.ts';
import { rowsOf } from './org-users.ts';

/** The permission sets and groups of an org that those names mean; a set comes before a group of the same name. */
export async function permissionSets(calls: CrmOrg, names: readonly string[]): Promise<PermissionSet[]> {
  const nameOf = (row: CrmRow, member: string): string =>
    typeof row.NamespacePrefix === 'string' ? `${row.NamespacePrefix}__${String(row[member])}` : String(row[member]);
  const found = new Map<string, PermissionSet>();
  for (const part of partsOf(names, NAMES_PER_QUERY)) {
    const groups = await rowsOf(calls, [permissionSetGroupsNamed(part)]);
    const single = await rowsOf(calls, [permissionSetsNamed(part)]);
    for (const row of groups)
      found.set(nameOf(row, 'DeveloperName').toLowerCase(), {
        id: longId(String(row.Id)),
        name: nameOf(row, 'DeveloperName'),
        isGroup: true,
      });
    for (const row of single)
      found.set(nameOf(row, 'Name').toLowerCase(), {
        id: longId(String(row.Id)),
        name: nameOf(row, 'Name'),
        isGroup: false,
      });
  }
  return names.flatMap((name) => found.get(name.toLowerCase()) ?? []);
}

/** What people have of permission sets and groups. */
export async function assignments(calls: CrmOrg, userIds: readonly string[]): Promise<Assignment[]> {
  const rows = await rowsOf(calls, partsOf([...new Set(userIds)], NAMES_PER_QUERY).map(assignmentsOf));
  // The platform gives a row for the permission set of the profile, too, and for each set of a group one without the group.
  return rows.map((row) => ({
    id: longId(String(row.Id)),
    userId: longId(String(row.AssigneeId)),
    setId: longId(String(row.PermissionSetGroupId ?? row.PermissionSetId)),
  }));
}
