/** A permission set, or a group of them, in an org. */
export interface PermissionSet {
  id: string;
  /** As the payload names it. */
  name: string;
  isGroup: boolean;
}

/** That a person has a permission set. */
export interface Assignment {
  id: string;
  userId: string;
  /** Id of the permission set, or of the group. */
  setId: string;
}

/** States of a grant: how it moves says `GRANT_MOVES`. */
export const GRANT_STATES = ['intended', 'granted', 'refused', 'taken_back', 'lost'] as const;
export type GrantState = (typeof GRANT_STATES)[number];

/**
 * - `intended`: the row stands before the org is asked, which may or may not have done it.
 * - `granted`: the org has the assignment.
 * - `refused`: the org did not make it.
 * - `taken_back`: it is gone from the org, or never was there.
 * - `lost`: the org is no longer registered, so nobody can take it back; its own date of expiry ends it.
 */
export const GRANT_MOVES: Readonly<Record<GrantState, readonly GrantState[]>> = {
  intended: ['granted', 'refused', 'taken_back', 'lost'],
  granted: ['taken_back', 'lost'],
  refused: [],
  taken_back: [],
  lost: [],
};

/** The org may have what such a grant gives. */
export const OPEN_GRANTS = GRANT_STATES.filter((state) => GRANT_MOVES[state].length > 0);

/** For how long rights are given where the payload does not say. */
export const DEFAULT_MINUTES = 60;

/** Pairs of people and sets that are to be granted: those whom the org shows without it. What people had before stays. */
export function missingGrants(
  users: readonly { id: string; username: string }[],
  sets: readonly PermissionSet[],
  existing: readonly Assignment[],
): { user: { id: string; username: string }; set: PermissionSet }[] {
  const has = new Set(existing.map(({ userId, setId }) => `${userId} ${setId}`));
  return users.flatMap((user) => sets.filter(({ id }) => !has.has(`${user.id} ${id}`)).map((set) => ({ user, set })));
}

/** Reasons of an org for not granting, as a sentence. @param errors all of them: one refusal often has several. */
export const refusalText = (errors: readonly { code: string; message: string }[]): string =>
  errors.length === 0 ? 'The org gave no reason' : errors.map(({ code, message }) => `${message} (${code})`).join('; ');

/** A run gives at most so many permission sets, counted for each person. */
export const GRANTS_MAX = 2_000;

/** Why a payload gives nobody anything, or too much at once; null: it can be given. */
export function whyNotGiven({ usernames, permissionSets }: Readonly<Record<string, unknown>>): string | null {
  const count = lengthOf(usernames) * lengthOf(permissionSets);
  if (count === 0) return 'The payload names nobody, or nothing to give: it needs usernames and permissionSets';
  if (count <= GRANTS_MAX) return null;
  return `The payload gives ${count} permission sets, counted for each person; one run gives at most ${GRANTS_MAX}`;
}

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);
