import { longId } from '../../../domain/orgs/crm/org-id-rules.ts';
import { newId, type SimulatedOrg } from './org.ts';
import { json, type Reply, restError } from './replies.ts';
import type { SoqlRow, SoqlTable } from './soql.ts';

export interface SimulatedUser {
  id: string;
  username: string;
  isActive: boolean;
  userType: string;
  profile: string;
  licence: string;
  login: { id: string; isFrozen: boolean; changedBy: string; changedAt: Date };
}

interface SimulatedSet {
  id: string;
  name: string;
  namespace: string | null;
  isGroup: boolean;
}

interface SimulatedAssignment {
  id: string;
  userId: string;
  setId: string;
  isGroup: boolean;
  expiresAt: string | null;
}

/** A write of the ledger: what an org was asked to change, and did. */
export interface LedgerEntry {
  act: 'create' | 'update' | 'delete';
  type: string;
  record: Record<string, unknown>;
}

const time = (date: Date): string => date.toISOString().replace('Z', '+0000');
const ADMINISTRATORS = 'System Administrator';
const RECORDS_MAX = 200;

/**
 * Users, their logins, sessions and permission sets, as the REST interface has them: objects User, UserLogin, AuthSession, PermissionSet,
 * PermissionSetGroup, PermissionSetAssignment of the vendor's object reference, and `composite/sobjects` ("sObject Collections").
 */
export class OrgPeople {
  readonly #org: SimulatedOrg;
  readonly users = new Map<string, SimulatedUser>();
  readonly sets = new Map<string, SimulatedSet>();
  readonly assignments = new Map<string, SimulatedAssignment>();
  readonly sessions = new Map<string, string>();
  /** All that was written, in order. */
  readonly ledger: LedgerEntry[] = [];
  /** Seats of permission set licences; null: enough. */
  seats: number | null = null;
  /** Records of such types are refused with this error. */
  readonly refused = new Map<string, { statusCode: string; message: string }>();

  constructor(org: SimulatedOrg) {
    this.#org = org;
    this.addUser(org.username, { id: org.userId, profile: ADMINISTRATORS });
  }

  addUser(username: string, more: Partial<Omit<SimulatedUser, 'username' | 'login'>> = {}): SimulatedUser {
    const user = {
      id: longId(newId('005')),
      username,
      isActive: true,
      userType: 'Standard',
      profile: 'Standard User',
      licence: 'Salesforce',
      login: { id: longId(newId('0Yw')), isFrozen: false, changedBy: longId(newId('005')), changedAt: new Date(0) },
      ...more,
    };
    this.users.set(user.id, user);
    return user;
  }

  addSet(name: string, { isGroup = false, namespace = null as string | null } = {}): SimulatedSet {
    const set = { id: longId(newId(isGroup ? '0PG' : '0PS')), name, namespace, isGroup };
    this.sets.set(set.id, set);
    return set;
  }

  assign(
    user: SimulatedUser,
    { id: setId, isGroup }: SimulatedSet,
    expiresAt: string | null = null,
  ): SimulatedAssignment {
    const assignment = { id: longId(newId('0Pa')), userId: user.id, setId, isGroup, expiresAt };
    this.assignments.set(assignment.id, assignment);
    return assignment;
  }

  user(username: string): SimulatedUser {
    const found = [...this.users.values()].find((user) => user.username === username);
    if (!found) throw new Error(`the simulated org has no user ${username}`);
    return found;
  }

  /** Names of the sets and groups that somebody has. */
  setsOf(username: string): string[] {
    const { id } = this.user(username);
    return [...this.assignments.values()]
      .filter(({ userId }) => userId === id)
      .map(({ setId }) => this.sets.get(setId)?.name ?? '')
      .toSorted();
  }

  tables(): Record<string, SoqlTable> {
    const sets = (isGroup: boolean) => [...this.sets.values()].filter((set) => set.isGroup === isGroup);
    const table = (rows: () => SoqlRow[], fields: string): SoqlTable => ({ rows, fields: fields.split(' ') });
    return {
      User: table(
        () =>
          [...this.users.values()].map(({ id, username, isActive, userType, profile, licence }) => ({
            Id: id,
            Username: username,
            Name: username.split('@')[0] ?? '',
            IsActive: isActive,
            UserType: userType,
            'Profile.Name': profile,
            'Profile.PermissionsModifyAllData': profile === ADMINISTRATORS,
            'Profile.UserLicense.Name': licence,
          })),
        'Id Username Name IsActive UserType Profile.Name Profile.PermissionsModifyAllData Profile.UserLicense.Name',
      ),
      UserLogin: table(
        () =>
          [...this.users.values()].map(({ id, login }) => ({
            Id: login.id,
            UserId: id,
            IsFrozen: login.isFrozen,
            IsPasswordLocked: false,
            LastModifiedById: login.changedBy,
            LastModifiedDate: time(login.changedAt),
          })),
        'Id UserId IsFrozen IsPasswordLocked LastModifiedById LastModifiedDate',
      ),
      AuthSession: table(() => [...this.sessions].map(([id, userId]) => ({ Id: id, UsersId: userId })), 'Id UsersId'),
      PermissionSet: table(
        () =>
          sets(false).map(({ id, name, namespace }) => ({
            Id: id,
            Name: name,
            NamespacePrefix: namespace,
            IsOwnedByProfile: false,
          })),
        'Id Name NamespacePrefix IsOwnedByProfile',
      ),
      PermissionSetGroup: table(
        () =>
          sets(true).map(({ id, name, namespace }) => ({
            Id: id,
            DeveloperName: name,
            NamespacePrefix: namespace,
            Status: 'Updated',
          })),
        'Id DeveloperName NamespacePrefix Status',
      ),
      PermissionSetAssignment: table(
        () =>
          [...this.assignments.values()].map(({ id, userId, setId, isGroup, expiresAt }) => ({
            Id: id,
            AssigneeId: userId,
            PermissionSetId: isGroup ? null : setId,
            PermissionSetGroupId: isGroup ? setId : null,
            ExpirationDate: expiresAt,
            'PermissionSet.Name': isGroup ? null : (this.sets.get(setId)?.name ?? null),
          })),
        'Id AssigneeId PermissionSetId PermissionSetGroupId ExpirationDate PermissionSet.Name',
      ),
    };
  }

  /** `composite/sobjects` with `allOrNone` false. */
  collections(method: string, ids: string | null, body: string): Reply {
    if (method === 'DELETE') {
      const all = (ids ?? '').split(',').filter(Boolean);
      return all.length > RECORDS_MAX
        ? tooMany()
        : json(
            200,
            all.map((id) => this.#delete(id)),
          );
    }
    const { records = [] } = JSON.parse(body) as {
      records?: (Record<string, unknown> & { attributes?: { type?: string } })[];
    };
    if (records.length > RECORDS_MAX) return tooMany();
    return json(
      200,
      records.map(({ attributes, ...record }) => this.#write(method, attributes?.type ?? '', record)),
    );
  }

  #write(method: string, type: string, record: Record<string, unknown>): object {
    const refused = this.refused.get(type);
    if (refused) return failed(refused.statusCode, refused.message);
    if (method === 'PATCH' && type === 'UserLogin') return this.#freeze(record);
    if (method === 'PATCH' && type === 'ApexTestQueueItem') return this.#org.apexTests.abort(record);
    if (method === 'POST' && type === 'PermissionSetAssignment') return this.#assignRecord(record);
    return failed('INVALID_TYPE', `sObject type '${type}' is not supported.`);
  }

  #freeze(record: Record<string, unknown>): object {
    const user = [...this.users.values()].find(({ login }) => isSame(login.id, record.Id));
    if (!user) return failed('INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id');
    this.ledger.push({ act: 'update', type: 'UserLogin', record });
    const changedAt = new Date();
    user.login = { ...user.login, isFrozen: record.IsFrozen === true, changedBy: this.#org.userId, changedAt };
    return done(user.login.id);
  }

  #assignRecord(record: Record<string, unknown>): object {
    const user = [...this.users.values()].find(({ id }) => isSame(id, record.AssigneeId));
    const wanted = record.PermissionSetGroupId ?? record.PermissionSetId;
    const set = [...this.sets.values()].find(({ id }) => isSame(id, wanted));
    if (!user || !set) return failed('INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id');
    const has = [...this.assignments.values()].some(({ userId, setId }) => userId === user.id && setId === set.id);
    if (has) return failed('DUPLICATE_VALUE', 'Duplicate PermissionSetAssignment. Assignee: , Permission Set:');
    if (this.seats !== null && this.assignments.size >= this.seats)
      return failed('LICENSE_LIMIT_EXCEEDED', 'no more permission set licenses are available');
    this.ledger.push({ act: 'create', type: 'PermissionSetAssignment', record });
    const expiresAt = typeof record.ExpirationDate === 'string' ? record.ExpirationDate : null;
    return done(this.assign(user, set, expiresAt).id);
  }

  #delete(id: string): object {
    const key = [...this.assignments.keys(), ...this.sessions.keys()].find((known) => isSame(known, id));
    if (key === undefined) return failed('ENTITY_IS_DELETED', 'entity is deleted');
    const isAssignment = this.assignments.delete(key);
    if (!isAssignment) this.sessions.delete(key);
    this.ledger.push({
      act: 'delete',
      type: isAssignment ? 'PermissionSetAssignment' : 'AuthSession',
      record: { Id: key },
    });
    return done(key);
  }
}

const isSame = (id: string, other: unknown): boolean =>
  typeof other === 'string' && id.slice(0, 15) === other.slice(0, 15);
const done = (id: string) => ({ id, success: true, errors: [] });
const failed = (statusCode: string, message: string) => ({
  success: false,
  errors: [{ statusCode, message, fields: [] }],
});
const tooMany = () => restError(400, 'LIMIT_EXCEEDED', 'record limit of 200 exceeded');
