import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import type { OrgUser } from '../../../domain/delivery/org-people/freeze-rules.ts';
import { auditGrants } from '../../../domain/delivery/org-people/privilege-grants.mutations.ts';
import {
  type GrantMove,
  type GrantRow,
  grantsOfRun,
  insertGrants,
  moveGrants,
} from '../../../domain/delivery/org-people/privilege-grants.queries.ts';
import {
  type Assignment,
  DEFAULT_MINUTES,
  missingGrants,
  type PermissionSet,
  refusalText,
  whyNotGiven,
} from '../../../domain/delivery/org-people/privilege-rules.ts';
import type { CrmRow } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { partsOf } from '../../../domain/kernel/shared/at-once-rules.ts';
import { RECORDS_PER_CALL } from '../../../domain/orgs/crm/crm-records.port.ts';
import { longId } from '../../../domain/orgs/crm/org-id-rules.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import type { Deps } from '../../deps.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import type { HeldOutcome, Operation } from '../flows/operations.activities.ts';
import { type ActedOrg, actInOrg, keepLines } from '../org-steps/act-in-org.ts';
import { answered } from '../org-steps/org-call-failed.ts';
import { assignments, permissionSets } from './org-permission-sets.ts';
import { usersByName } from './org-users.ts';

const MINUTE_MS = 60_000;

/**
 * Gives people permission sets for a time. Before the org is asked, rows say what is intended, so that what was given is
 * taken back whatever happens; what people had before is no grant of the run, and stays. Repeated, it does what is left.
 */
export const elevatePrivileges: Operation = (deps, tenant, run) => {
  const usernames = namesIn(run.payload.usernames);
  const names = namesIn(run.payload.permissionSets);
  const why = whyNotGiven(run.payload);
  if (why !== null) return Promise.resolve({ status: 'failed', error: why });
  return withHeartbeat((signal) =>
    actInOrg(deps, tenant, run, { signal }, async (org) => {
      const users = await usersByName(org.calls, usernames);
      const sets = await permissionSets(org.calls, names);
      const refusal = whyNobody(usernames, users) ?? whyNoSet(names, sets);
      if (refusal !== undefined) return { status: 'failed', error: refusal };
      return giveSets(deps, tenant, run, org, { users, sets, signal });
    }),
  );
};

const namesIn = (value: unknown): string[] =>
  Array.isArray(value) ? [...new Map(value.map((name) => [String(name).toLowerCase(), String(name)])).values()] : [];

/** Nothing is given where a part cannot be: a typing error would go unnoticed. */
function whyNobody(usernames: readonly string[], users: readonly OrgUser[]): string | undefined {
  const byName = new Map(users.map((user) => [user.username.toLowerCase(), user]));
  const missing = usernames.filter((name) => byName.get(name.toLowerCase())?.isActive !== true);
  return missing.length > 0 ? `The org has no active user ${missing.slice(0, 5).join(', ')}` : undefined;
}

function whyNoSet(names: readonly string[], sets: readonly PermissionSet[]): string | undefined {
  const known = new Set(sets.map(({ name }) => name.toLowerCase()));
  const missing = names.filter((name) => !known.has(name.toLowerCase()));
  return missing.length > 0 ? `The org has no permission set or group ${missing.slice(0, 5).join(', ')}` : undefined;
}

interface Wanted {
  users: readonly OrgUser[];
  sets: readonly PermissionSet[];
  signal: AbortSignal;
}

async function giveSets(
  deps: Deps,
  tenant: TenantKey,
  run: RunContext,
  { orgId, username: orgUsername, calls }: ActedOrg,
  { users, sets, signal }: Wanted,
): Promise<HeldOutcome> {
  const unit = deps.actingAs(systemActor(tenant, 'flow'));
  const minutes = Number(run.payload.durationMinutes ?? DEFAULT_MINUTES);
  const before = await unit((tx) => grantsOfRun(tx, run.id));
  const existing = await assignments(
    calls,
    users.map(({ id }) => id),
  );
  if (before.length === 0) {
    const expiresAt = new Date(deps.now().getTime() + minutes * MINUTE_MS);
    const missing = missingGrants(users, sets, existing).map(({ user, set }) => ({
      orgId,
      orgUsername,
      username: user.username,
      userId: user.id,
      permissionSet: set.name,
      setId: set.id,
      isGroup: set.isGroup,
      expiresAt,
    }));
    await unit((tx) => insertGrants(tx, run.id, missing));
  }
  const intended = (await unit((tx) => grantsOfRun(tx, run.id))).filter(({ state }) => state === 'intended');
  // An earlier attempt may have been answered by nobody: what it made is there.
  const made = before.length === 0 ? [] : madeBefore(intended, existing);
  await unit((tx) => moveGrants(tx, made));
  const left = intended.filter(({ id }) => !made.some((move) => move.id === id));
  for (const part of partsOf(left, RECORDS_PER_CALL)) {
    signal.throwIfAborted();
    const records = part.map(recordOf);
    const written = answered(await calls.createRecords({ type: 'PermissionSetAssignment', records }));
    const moves = part.map(({ id }, index): GrantMove => {
      const { id: assignmentId, errors } = written[index] ?? { id: null, errors: [] };
      return assignmentId === null
        ? { id, state: 'refused', error: refusalText(errors) }
        : { id, state: 'granted', assignmentId: longId(assignmentId) };
    });
    await unit((tx) => moveGrants(tx, moves));
  }
  const grants = await unit(async (tx) => {
    const all = await grantsOfRun(tx, run.id);
    auditGrants(tx, run, all);
    return all;
  });
  const kept = await keepLines(deps, tenant, run.id, grants.map(lineOf));
  const outcome = outcomeOf(grants, { users, sets, orgUsername });
  return { ...outcome, result: { ...outcome.result, ...kept } };
}

const recordOf = ({ userId, setId, isGroup, expiresAt }: GrantRow): CrmRow => ({
  AssigneeId: userId,
  ...(isGroup ? { PermissionSetGroupId: setId } : { PermissionSetId: setId }),
  ExpirationDate: new Date(expiresAt).toISOString(),
});

const madeBefore = (intended: readonly GrantRow[], existing: readonly Assignment[]): GrantMove[] => {
  const byPair = new Map(existing.map(({ id, userId, setId }) => [`${userId} ${setId}`, id]));
  return intended.flatMap(({ id, userId, setId }): GrantMove[] => {
    const assignmentId = byPair.get(`${userId} ${setId}`);
    return assignmentId === undefined ? [] : [{ id, state: 'granted', assignmentId }];
  });
};

const lineOf = ({ username, permissionSet, state, error }: GrantRow): string =>
  `${state === 'granted' ? 'granted' : 'refused'}: ${permissionSet} to ${username}${error === null ? '' : ` (${error})`}`;

function outcomeOf(
  grants: readonly GrantRow[],
  { users, sets, orgUsername }: Pick<Wanted, 'users' | 'sets'> & { orgUsername: string },
): HeldOutcome {
  const granted = grants.filter(({ state }) => state === 'granted');
  const refused = grants.filter(({ state }) => state === 'refused');
  const result = {
    orgUsername,
    granted: granted.map(({ username, permissionSet }) => ({ username, permissionSet })),
    refused: refused.map(({ username, permissionSet, error }) => ({ username, permissionSet, reason: error })),
    hadBefore: users.length * sets.length - grants.length,
    expiresAt: granted[0] ? new Date(granted[0].expiresAt).toISOString() : null,
  };
  const [first] = refused;
  const error = first && `${first.permissionSet} was not given to ${first.username}: ${first.error}`;
  if (granted.length === 0) return { status: error === undefined ? 'succeeded' : 'failed', error, result };
  const heldUntil = new Date(granted[0]?.expiresAt ?? 0).toISOString();
  return { status: error === undefined ? 'succeeded' : 'partial', error, result, heldUntil };
}
