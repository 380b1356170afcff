import { soqlText } from '../../kernel/text/soql-rules.ts';

/** How many names or ids one query takes: a query is part of an address, which the platform limits to 16 KB. */
export const NAMES_PER_QUERY = 100;

const USER = 'SELECT Id, Username, IsActive, UserType FROM User';
const inList = (values: readonly string[]): string => `(${values.map(soqlText).join(', ')})`;

/** Users with those usernames, active or not. */
export const usersNamed = (usernames: readonly string[]): string =>
  `${USER} WHERE Username IN ${inList(usernames)} ORDER BY Username`;

/** Active users with those ids. */
export const activeUsersOf = (ids: readonly string[]): string =>
  `${USER} WHERE IsActive = true AND Id IN ${inList(ids)} ORDER BY Username`;

/** Active users with one of those profiles. */
export const usersOfProfiles = (profiles: readonly string[]): string =>
  `${USER} WHERE IsActive = true AND Profile.Name IN ${inList(profiles)} ORDER BY Username`;

/** Active people; neither the platform's own users nor those of portals. */
export const ALL_PEOPLE = `${USER} WHERE IsActive = true AND UserType = 'Standard' ORDER BY Username`;

/** Who has one of those permission sets, by itself or as a part of a group. */
export const assigneesOfSets = (names: readonly string[]): string =>
  `SELECT AssigneeId FROM PermissionSetAssignment WHERE PermissionSet.Name IN ${inList(names)}`;

/** Active people who may do everything: the administrators. */
export const ADMINISTRATORS =
  "SELECT Id FROM User WHERE IsActive = true AND UserType = 'Standard' AND Profile.PermissionsModifyAllData = true";

/** Users of the licence for integrations, which programs sign in with. */
export const INTEGRATION_USERS =
  "SELECT Id FROM User WHERE IsActive = true AND Profile.UserLicense.Name = 'Salesforce Integration'";

/** Whether users are frozen (object UserLogin; a user that never existed has no row). */
export const loginsOf = (userIds: readonly string[]): string =>
  `SELECT Id, UserId, IsFrozen, LastModifiedById, LastModifiedDate FROM UserLogin WHERE UserId IN ${inList(userIds)}`;

/** Sessions that are open (object AuthSession). */
export const sessionsOf = (userIds: readonly string[]): string =>
  `SELECT Id FROM AuthSession WHERE UsersId IN ${inList(userIds)}`;

const NAMESPACED = /^([A-Za-z]\w{0,14})__(\w+)$/;

/** Permission sets by their names; one of a managed package is named `namespace__Name`. */
export function permissionSetsNamed(names: readonly string[]): string {
  const local = names.map((name) => NAMESPACED.exec(name)?.[2] ?? name);
  return `SELECT Id, Name, NamespacePrefix FROM PermissionSet WHERE IsOwnedByProfile = false AND Name IN ${inList(local)}`;
}

/** Groups of permission sets by their names. */
export function permissionSetGroupsNamed(names: readonly string[]): string {
  const local = names.map((name) => NAMESPACED.exec(name)?.[2] ?? name);
  return `SELECT Id, DeveloperName, NamespacePrefix, Status FROM PermissionSetGroup WHERE DeveloperName IN ${inList(local)}`;
}

/** What people have, of all permission sets and groups. */
export const assignmentsOf = (userIds: readonly string[]): string =>
  `SELECT Id, AssigneeId, PermissionSetId, PermissionSetGroupId, ExpirationDate FROM PermissionSetAssignment WHERE AssigneeId IN ${inList(userIds)}`;
