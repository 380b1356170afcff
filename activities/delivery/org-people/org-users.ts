import type { CrmOrg, CrmRow } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { longId } from '../../../domain/orgs/crm/org-id-rules.ts';
import type {
  OrgLogin,
  OrgUser,
  PeopleSelection,
  Protected,
} from '../../../domain/delivery/org-people/freeze-rules.ts';
import {
  activeUsersOf,
  ADMINISTRATORS,
  ALL_PEOPLE,
  assigneesOfSets,
  INTEGRATION_USERS,
  loginsOf,
  NAMES_PER_QUERY,
  usersNamed,
  usersOfProfiles,
} from '../../../domain/delivery/org-people/people-soql-rules.ts';
import { partsOf } from '../../../domain/kernel/shared/at-once-rules.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { answered } from '../org-steps/org-call-failed.ts';

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const idOf = (value: unknown): string => longId(text(value));

/** All rows of the queries, at most 10,000 of each. Throws `invalid_request` where an org has more. */
export async function rowsOf(calls: CrmOrg, queries: readonly string[]): Promise<CrmRow[]> {
  const rows: CrmRow[] = [];
  for (const soql of queries) {
    const { rows: found, isComplete } = answered(await calls.query(soql));
    if (!isComplete)
      throw new DomainError('invalid_request', 'More than 10,000 people are meant: name fewer in one run');
    rows.push(...found);
  }
  return rows;
}

const queriesOf = (values: readonly string[], query: (part: readonly string[]) => string): string[] =>
  partsOf(values, NAMES_PER_QUERY).map(query);

const userOf = (row: CrmRow): OrgUser => ({
  id: idOf(row.Id),
  username: text(row.Username),
  isActive: row.IsActive === true,
  userType: text(row.UserType),
});

/** Users of an org by their usernames; those it does not have are missing. */
export const usersByName = async (calls: CrmOrg, usernames: readonly string[]): Promise<OrgUser[]> =>
  (await rowsOf(calls, queriesOf(usernames, usersNamed))).map(userOf);

/** Everybody whom a selection may mean, each once, by username. */
export async function selectedUsers(calls: CrmOrg, selection: PeopleSelection): Promise<OrgUser[]> {
  const { usernames, profiles, permissionSets, allExcept } = selection;
  const assigned = await rowsOf(calls, queriesOf(permissionSets, assigneesOfSets));
  const assignees = [...new Set(assigned.map(({ AssigneeId: id }) => idOf(id)))];
  const rows = await rowsOf(calls, [
    ...queriesOf(usernames, usersNamed),
    ...queriesOf(profiles, usersOfProfiles),
    ...queriesOf(assignees, activeUsersOf),
    ...(allExcept ? [ALL_PEOPLE] : []),
  ]);
  const byId = new Map(rows.map(userOf).map((user) => [user.id, user]));
  return [...byId.values()].toSorted((left, right) => (left.username < right.username ? -1 : 1));
}

/** Whether users are frozen, by id. */
export async function loginsById(calls: CrmOrg, userIds: readonly string[]): Promise<Map<string, OrgLogin>> {
  const rows = await rowsOf(calls, queriesOf(userIds, loginsOf));
  return new Map(
    rows.map((row) => {
      const login = {
        id: idOf(row.Id),
        userId: idOf(row.UserId),
        isFrozen: row.IsFrozen === true,
        changedBy: row.LastModifiedById ? idOf(row.LastModifiedById) : null,
        changedAt: text(row.LastModifiedDate) || null,
      };
      return [login.userId, login];
    }),
  );
}

/** Who must not be frozen in an org. */
export async function protectedUsersOf(calls: CrmOrg): Promise<Protected> {
  const { userId } = answered(await calls.identity());
  const idsOf = async (soql: string) => new Set((await rowsOf(calls, [soql])).map(({ Id: id }) => idOf(id)));
  return {
    ownId: longId(userId),
    administrators: await idsOf(ADMINISTRATORS),
    integrations: await idsOf(INTEGRATION_USERS),
  };
}
