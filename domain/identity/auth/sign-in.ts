import type { Database } from '../../kernel/data/tables.ts';
import type { Actor, Role, TenantKey } from '../../kernel/shared/actor.ts';
import type { Encryption } from '../../kernel/encryption/encryption.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import { isId } from '../../kernel/shared/ids.ts';
import type { AccessTokens } from './access-tokens.ts';
import type { HostAccount, SignInHost } from './code-host.port.ts';
import { findLogin, findPeople, findSessions, isRefreshTokenUnspent } from './credentials.queries.ts';
import { withTenantSlugs } from '../../kernel/tenants/tenants.queries.ts';
import { saveHostAccount, saveOwnHostAccount } from './host-accounts.mutations.ts';
import type { Identity, IdentityProvider } from './identity-provider.port.ts';
import { isSecondFactorNeeded, spendSecondFactor } from './second-factors.mutations.ts';
import { isPasswordRight } from '../../kernel/encryption/secrets.ts';
import type { Entry, Proof } from './sessions.mutations.ts';
import type { ActingAs } from './sessions.ts';
import { signInTickets } from './sign-in-tickets.ts';
import type { SignInThrottle } from './sign-in-throttle.ts';

export type ProofOutcome =
  | { outcome: 'proven'; proof: Proof }
  | { outcome: 'refused' }
  /** The password is right; `ticket` proves that to `byTicket`, and is opaque to its holder. */
  | { outcome: 'code_needed'; ticket: string }
  | { outcome: 'code_refused'; ticket: string };

/** The person whom a token belongs to. */
export interface NamedPerson {
  userId: string;
  /** In the tenant of the token, or where `findPeople` finds the person; absent for a member of none. */
  proof?: Proof;
  isMember: boolean;
  /** Slugs of the tenants that invite the person. */
  invitedTo: readonly string[];
  /** The session of a token that this service issued. */
  sessionId?: string;
}

export type TokenOutcome =
  | ({ outcome: 'named' } & NamedPerson)
  /** The token is valid, but no account has its e-mail; `proof`: by accepting the one invitation, or that of the named tenant. */
  | { outcome: 'unknown'; invitedTo: readonly string[]; proof?: Proof }
  | { outcome: 'invalid' }
  | { outcome: 'failed'; reason: 'timeout' | 'error' };

/** How people prove who they are. */
export interface SignIn {
  /**
   * @param tenant slug, whose invitation is accepted; absent: the tenant that the person chose last, else the one
   * accepted first.
   * @param address of the client. Throws `rate_limited` when it has failed too often with this e-mail, and `ambiguous`
   * for a member of no tenant whom tenants invite.
   */
  byPassword(input: {
    email: string;
    password: string;
    tenant?: string | undefined;
    code?: string | undefined;
    address: string;
  }): Promise<ProofOutcome>;
  /** The second step, for forms that ask for the code by itself. An invalid or expired ticket is `refused`. */
  byTicket(ticket: string, code: string): Promise<ProofOutcome>;
  /**
   * The person whom the OpenID provider names, by e-mail or alias. Second factors are that provider's responsibility.
   * Throws `ambiguous` for a member of no tenant whom tenants invite.
   * @param isLinked another site may have named the tenant: it is entered by members alone, and is not their choice.
   */
  byIdentity(
    identity: Identity,
    tenant: string | undefined,
    options: { isLinked: boolean },
  ): Promise<Proof | undefined>;
  /**
   * The person of an access token, of this service or of the OpenID provider, member or not.
   * @param refreshToken when given with a token of this service, it must be an unused one of the same session.
   */
  byToken(
    accessToken: string,
    options?: { refreshToken?: string | undefined; tenant?: string | undefined },
  ): Promise<TokenOutcome>;
  /** Keeps what a host says of the person whom a token named; answers the e-mails that name the person now. */
  keepHostAccount(named: NamedPerson, host: SignInHost, account: HostAccount, requestId: string): Promise<string[]>;
}

interface SignInParts {
  /** With the application's role, outside any tenant. */
  database: Database;
  actingAs: ActingAs;
  accessTokens: AccessTokens;
  signInThrottle: SignInThrottle;
  encryption: Encryption;
  identityProvider: IdentityProvider | undefined;
  now: () => Date;
}

export const createSignIn = (parts: SignInParts): SignIn => ({ ...byPasswords(parts), ...byTokens(parts) });

/** Sign-in by a password, and then by the code of a second factor. */
function byPasswords({
  database,
  signInThrottle,
  encryption,
  now,
}: SignInParts): Pick<SignIn, 'byPassword' | 'byTicket'> {
  const tickets = signInTickets(encryption, now);
  /** Codes are counted per person, wherever they come from: only who knows the password gets here. */
  const byCode = (entry: Entry, code: string): Promise<ProofOutcome> =>
    signInThrottle.attempt<ProofOutcome>('second factor', entry.actor.id, async () => {
      const isSpent = await spendSecondFactor(database, encryption, { userId: entry.actor.id, code, now: now() });
      return isSpent
        ? {
            verdict: 'right',
            value: { outcome: 'proven', proof: { ...entry, aal: 'aal2', how: 'by password and second factor' } },
          }
        : { verdict: 'wrong', value: { outcome: 'code_refused', ticket: tickets.issue(entry) } };
    });

  return {
    byPassword: async ({ email, password, tenant, code, address }) => {
      const found = await signInThrottle.attemptSignIn(address, email, async () => {
        const login = await findLogin(database, email, tenant);
        const isRight = await isPasswordRight(login?.passwordHash, password);
        if (!isRight || !login) return { verdict: 'wrong', value: undefined };
        const entry = entryOf({ ...login, email: email.toLowerCase() }, tenant);
        const isSomewhere = entry !== undefined || (tenant === undefined && login.invitedTo.length > 0);
        return isSomewhere
          ? { verdict: 'right', value: { entry, invitedTo: login.invitedTo } }
          : { verdict: 'wrong', value: undefined };
      });
      if (!found) return { outcome: 'refused' };
      const entry = found.entry ?? assertUninvited(found.invitedTo, tenant);
      if (!entry) return { outcome: 'refused' };
      if (!(await isSecondFactorNeeded(database, entry.actor.id)))
        return { outcome: 'proven', proof: { ...entry, aal: 'aal1', how: 'by password' } };
      return code === undefined ? { outcome: 'code_needed', ticket: tickets.issue(entry) } : byCode(entry, code);
    },

    async byTicket(ticket, code) {
      const entry = tickets.open(ticket);
      return entry ? byCode(entry, code) : { outcome: 'refused' };
    },
  };
}

/** Sign-in by whom the OpenID provider names, and by tokens of either. */
function byTokens({
  database,
  actingAs,
  accessTokens,
  identityProvider,
}: SignInParts): Pick<SignIn, 'byIdentity' | 'byToken' | 'keepHostAccount'> {
  const identified = async ({ email, aal }: Identity, tenantSlug?: string): Promise<TokenOutcome> => {
    const [found] = await withTenantSlugs(database, await findPeople(database, { emails: [email], tenantSlug }));
    if (!found) return { outcome: 'unknown', invitedTo: [] };
    const { userId, isNew, invitedTo } = found;
    const entry = entryOf(found, tenantSlug);
    const proof = entry && { proof: { ...entry, aal, how: 'by the identity provider' } };
    if (isNew) return { outcome: 'unknown', invitedTo, ...proof };
    return { outcome: 'named', userId, isMember: proof !== undefined, invitedTo, ...proof };
  };
  const byProvidersToken = async (token: string, tenant?: string): Promise<TokenOutcome> => {
    const checked = await identityProvider?.verify(token);
    if (!checked) return { outcome: 'invalid' };
    return checked.outcome === 'valid' ? identified(checked.identity, tenant) : checked;
  };

  return {
    async byIdentity(identity, tenant, { isLinked }) {
      const found = await identified(identity, tenant);
      if (found.outcome !== 'named' && found.outcome !== 'unknown') return undefined;
      const proof = found.proof ?? assertUninvited(found.invitedTo, tenant);
      if (!proof || !isLinked || tenant === undefined) return proof;
      return proof.invitationId === undefined ? { ...proof, isTenantNamed: false } : undefined;
    },

    async byToken(accessToken, { refreshToken, tenant } = {}) {
      const claims = await accessTokens.verify(accessToken);
      if (!claims) return byProvidersToken(accessToken, tenant);
      const { sid: sessionId, sub, aal } = claims;
      const sessions = isId(sessionId) ? await findSessions(database, { ids: [sessionId] }) : [];
      const [session] = await withTenantSlugs(database, sessions);
      if (session?.userId !== sub || session.tenantId !== claims.tenant) return { outcome: 'invalid' };
      const actor = personOf(session, session.role ?? 'member');
      const isGood =
        refreshToken === undefined ||
        (await actingAs(actor)((tx) => isRefreshTokenUnspent(tx, sessionId, refreshToken)));
      if (!isGood) return { outcome: 'invalid' };
      const proof: Proof = { actor, aal, how: 'by an access token' };
      return { outcome: 'named', userId: actor.id, proof, isMember: session.role !== null, invitedTo: [], sessionId };
    },

    async keepHostAccount({ userId, proof }, host, account, requestId) {
      // Without a tenant there is no trail to write to.
      if (!proof) return saveHostAccount(database, userId, host, account);
      return actingAs(proof.actor, { requestId })((tx) => saveOwnHostAccount(tx, host, account));
    },
  };
}

interface FoundPlace {
  userId: string;
  email: string;
  tenantId: string | null;
  tenantSlug: string;
  role: Role | null;
  invitationId: string | null;
}

/** Undefined for somebody who is in no tenant, or not in the one that was named. */
function entryOf({ tenantId, role, invitationId, ...found }: FoundPlace, named?: string): Entry | undefined {
  if (tenantId === null || role === null) return undefined;
  return {
    actor: personOf({ ...found, tenantId }, role),
    ...(invitationId !== null && { invitationId }),
    ...(named !== undefined && { isTenantNamed: true }),
  };
}

/** Throws `ambiguous` for somebody who acts nowhere, names no tenant, and could accept an invitation by naming one. */
export function assertUninvited(invitedTo: readonly string[], named: string | undefined): undefined {
  if (named !== undefined || invitedTo.length === 0) return undefined;
  throw ambiguousTenant('Name the tenant whose invitation you accept', invitedTo);
}

/** With the slugs to choose from. */
export const ambiguousTenant = (message: string, tenants: readonly string[]): DomainError =>
  new DomainError('ambiguous', `${message}: ${tenants.join(', ')}`, { members: { tenants } });

interface Person extends TenantKey {
  userId: string;
  email: string;
}

const personOf = ({ userId: id, tenantId, tenantSlug, email }: Person, role: Role): Actor => ({
  type: 'user',
  id,
  tenantId,
  tenantSlug,
  role,
  email,
});
