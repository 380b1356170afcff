import { DomainError } from '../../kernel/shared/errors.ts';

interface NamedOrg {
  /** Null for one that is not registered. */
  username: string | null;
  sandboxName: string | null;
  parentProductionUsername: string | null;
}

/**
 * Sandboxes of one name in several production orgs.
 * @param parameter of the request, which would name the production org; absent: it has none.
 */
export const ambiguousSandbox = (name: string, candidates: readonly NamedOrg[], parameter?: string): DomainError =>
  new DomainError(
    'ambiguous',
    `Several production orgs have a sandbox named ${name}: ${parameter === undefined ? 'use the username of the one that is meant; one without a record is signed in to by sandbox/authenticate with productionUsername' : `name the production org by ${parameter}`}`,
    {
      members: {
        candidates: candidates.map(({ username, sandboxName, parentProductionUsername: productionUsername }) => ({
          username,
          sandboxName,
          productionUsername,
        })),
      },
    },
  );

/**
 * The org that a name means, of those which have it as username or sandbox name: a username comes before sandbox names.
 * Throws `ambiguous` for a sandbox name of several.
 * @param parent only sandboxes of this production org.
 * @param parentParameter of the request, which would name the production org.
 */
export function answeringOrg<Org extends NamedOrg>(
  orgs: readonly Org[],
  name: string,
  { parent, parentParameter }: { parent?: { username: string } | undefined; parentParameter?: string } = {},
): Org | undefined {
  const byUsername = orgs.find(({ username }) => username !== null && isSameName(username, name));
  if (byUsername) return byUsername;
  const sandboxes = orgs.filter(
    ({ parentProductionUsername }) =>
      !parent || (parentProductionUsername && isSameName(parentProductionUsername, parent.username)),
  );
  if (sandboxes.length < 2) return sandboxes[0];
  throw ambiguousSandbox(name, sandboxes, parentParameter);
}

/** Usernames and names of sandboxes are compared without regard to case. */
export const isSameName = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase();

/** Names of sandboxes are up to 10 letters and digits; usernames look like e-mail addresses. */
export const mayBeSandboxName = (name: string): boolean => /^[A-Za-z0-9]{1,10}$/.test(name);
export const mayBeUsername = (name: string): boolean => name.includes('@');
