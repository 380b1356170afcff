/** A user of an org. */
export interface OrgUser {
  /** 18 characters. */
  id: string;
  username: string;
  isActive: boolean;
  /** `Standard`, `AutomatedProcess`, `CspLitePortal` …: an open set. */
  userType: string;
}

/** Whether a user is frozen. */
export interface OrgLogin {
  id: string;
  userId: string;
  isFrozen: boolean;
  changedBy: string | null;
  /** ISO 8601. */
  changedAt: string | null;
}

/** Whom a run freezes or unfreezes: all that one of the lists names, or everybody but some. */
export interface PeopleSelection {
  usernames: readonly string[];
  profiles: readonly string[];
  permissionSets: readonly string[];
  /** Usernames of those who stay as they are; undefined: only the lists count. */
  allExcept: readonly string[] | undefined;
}

export const PERSON_OUTCOMES = [
  'frozen',
  'unfrozen',
  'was_frozen',
  'was_not_frozen',
  'refused',
  'not_found',
  'failed',
] as const;
export type PersonOutcome = (typeof PERSON_OUTCOMES)[number];

/** What became of one person. */
export interface PersonResult {
  username: string;
  outcome: PersonOutcome;
  /** Why not, in words. */
  reason?: string;
}

/** Why a run is refused that names nobody. */
export const NOBODY = 'The payload names nobody: give usernames, profiles, permissionSets, or allExcept';

const names = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

/** Whom a payload means; undefined: nobody. */
export function selectionOf(payload: Readonly<Record<string, unknown>>): PeopleSelection | undefined {
  const { usernames, profiles, permissionSets, allExcept } = payload;
  const selection = {
    usernames: names(usernames),
    profiles: names(profiles),
    permissionSets: names(permissionSets),
    allExcept: allExcept === undefined ? undefined : names(allExcept),
  };
  const isEmpty =
    selection.usernames.length + selection.profiles.length + selection.permissionSets.length === 0 &&
    selection.allExcept === undefined;
  return isEmpty ? undefined : selection;
}

const folded = (text: string): string => text.trim().toLowerCase();

/** Who is to be protected in an org. */
export interface Protected {
  /** Id of the user with whose credential the service calls the org. */
  ownId: string;
  administrators: ReadonlySet<string>;
  integrations: ReadonlySet<string>;
}

export interface FreezePlan {
  change: { user: OrgUser; login: OrgLogin }[];
  results: PersonResult[];
}

interface FreezeFacts {
  selection: PeopleSelection;
  users: readonly OrgUser[];
  logins: ReadonlyMap<string, OrgLogin>;
  protectedUsers: Protected;
  /** Frozen, or not any more. */
  isFreeze: boolean;
  /**
   * When a run began whose step is repeated: what its own user changed since then, it changed. ISO 8601. Undefined: it is not repeated.
   */
  since: string | undefined;
}

/**
 * Who is frozen (or unfrozen) and who is not, with the reason. Never frozen: the user of the service's own credential, the
 * last administrators, users of the platform itself, and users of integrations that were not named by their username.
 */
export function planFreeze({ selection, users, logins, protectedUsers, isFreeze, since }: FreezeFacts): FreezePlan {
  const { ownId, administrators, integrations } = protectedUsers;
  const kept = new Set(selection.allExcept?.map(folded));
  const named = new Set(selection.usernames.map(folded));
  const meant = users.filter(({ username }) => named.has(folded(username)) || !kept.has(folded(username)));
  const isLeft = (id: string): boolean =>
    id !== ownId && logins.get(id)?.isFrozen !== true && !meant.some((user) => user.id === id);
  const isAdministratorLeft = [...administrators].some(isLeft);
  const plan: FreezePlan = { change: [], results: [] };
  const say = (username: string, outcome: PersonOutcome, reason?: string) =>
    void plan.results.push({ username, outcome, ...(reason !== undefined && { reason }) });

  for (const user of meant) {
    const { id, username } = user;
    const login = logins.get(id);
    const refusal = isFreeze ? whyNot(user) : undefined;
    if (refusal !== undefined) say(username, 'refused', refusal);
    else if (!login) say(username, 'failed', 'the org has no record of the logins of this user');
    else if (login.isFrozen !== isFreeze) plan.change.push({ user, login });
    else if (isOwnChange(login)) say(username, isFreeze ? 'frozen' : 'unfrozen');
    else say(username, isFreeze ? 'was_frozen' : 'was_not_frozen');
  }
  const found = new Set(users.map(({ username }) => folded(username)));
  for (const username of selection.usernames)
    if (!found.has(folded(username))) say(username, 'not_found', 'the org has no user of this name');
  return plan;

  function whyNot({ id, username, isActive, userType }: OrgUser): string | undefined {
    if (id === ownId) return 'the service signs in to the org as this user, and could not undo it';
    if (/^(AutomatedProcess|CloudIntegrationUser|Guest)$/.test(userType))
      return `users of type ${userType} are the platform's own`;
    if (!isActive) return 'the user is not active, and cannot sign in';
    if (administrators.has(id) && !isAdministratorLeft) return 'no administrator would be left who can sign in';
    if (integrations.has(id) && !named.has(folded(username)))
      return 'programs sign in as this user: name it by its username to freeze it';
    return undefined;
  }

  function isOwnChange({ changedBy, changedAt }: OrgLogin): boolean {
    if (since === undefined) return false;
    return changedBy === ownId && changedAt !== null && Date.parse(changedAt) >= Date.parse(since) - CLOCKS_DIFFER_MS;
  }
}

/** The org's clock and ours may differ by so much. */
const CLOCKS_DIFFER_MS = 2_000;

/** How a run ended, by what became of each person. */
export function outcomeOfPeople(
  results: readonly PersonResult[],
  { isEverybody }: { isEverybody: boolean },
): 'succeeded' | 'partial' | 'failed' {
  // Whoever freezes all but some did not ask for those who cannot be frozen.
  const isMissed = ({ outcome }: PersonResult): boolean =>
    outcome === 'failed' || outcome === 'not_found' || (outcome === 'refused' && !isEverybody);
  const missed = results.filter(isMissed).length;
  if (missed === 0) return 'succeeded';
  return missed === results.length ? 'failed' : 'partial';
}
