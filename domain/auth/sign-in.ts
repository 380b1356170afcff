import type { Database } from '../data/tables.ts';
import type { Actor, Role, TenantKey } from '../shared/actor.ts';
import type { Encryption } from '../shared/encryption.ts';
import { isId } from '../shared/ids.ts';
import type { AccessTokens } from './access-tokens.ts';
import type { HostAccount, SignInHost } from './code-host.port.ts';
import { findLogin, findPeople, findSessions, isRefreshTokenUnspent } from './credentials.queries.ts';
import { withTenantSlugs } from '../tenants/tenants.queries.ts';
import { saveHostAccount, saveOwnHostAccount } from './host-accounts.mutations.ts';
import type { Identity, IdentityProvider } from './identity-provider.port.ts';
import { isSecondFactorNeeded, spendSecondFactor } from './second-factors.mutations.ts';
import { isPasswordRight } from './secrets.ts';
import type { Proof } from './sessions.mutations.ts';
import type { ActingAs } from './sessions.ts';
import type { SignInThrottle } from './sign-in-throttle.ts';

/** A person who proved the password has so long to give the code. */
const TICKET_MS = 5 * 60_000;
const TICKET_CONTEXT = 'sign-in ticket';

export type ProofOutcome =
  | { outcome: 'proven'; proof: Proof }
  | { outcome: 'refused' }
  /** The password is right; `ticket` proves that to `byTicket`, and is opaque to its holder. */
  | { outcome: 'code_needed'; ticket: string }
  | { outcome: 'code_refused'; ticket: string };

/** The person whom a token belongs to. */
export interface NamedPerson {
  userId: string;
  /** In the tenant of the token, or of the oldest membership; absent for a member of none. */
  proof?: Proof;
  isMember: boolean;
  /** The session of a token that this service issued. */
  sessionId?: string;
}

export type TokenOutcome =
  | ({ outcome: 'named' } & NamedPerson)
  /** The token is valid, but nobody has its e-mail. */
  | { outcome: 'unknown' }
  | { outcome: 'invalid' }
  | { outcome: 'failed'; reason: 'timeout' | 'error' };

/** How people prove who they are. */
export interface SignIn {
  /**
   * @param tenant slug; absent: the tenant of the oldest membership.
   * @param address of the client. Throws `rate_limited` when it has failed too often with this e-mail.
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
  /** The person whom the OpenID provider names, by e-mail or alias. Second factors are that provider's responsibility. */
  byIdentity(identity: Identity, tenant?: string): Promise<Proof | undefined>;
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

export function createSignIn(parts: SignInParts): SignIn {
  const { database, actingAs, accessTokens, signInThrottle, encryption, identityProvider, now } = parts;
  const tickets = signInTickets(encryption, now);

  const identified = async ({ email, aal }: Identity, tenantSlug?: string): Promise<TokenOutcome> => {
    const [found] = await withTenantSlugs(database, await findPeople(database, { emails: [email], tenantSlug }));
    if (!found) return { outcome: 'unknown' };
    const { userId, tenantId, role } = found;
    if (tenantId === null || role === null) return { outcome: 'named', userId, isMember: false };
    const actor = personOf({ ...found, tenantId }, role);
    return { outcome: 'named', userId, isMember: true, proof: { actor, aal, how: 'by the identity provider' } };
  };
  const byProvidersToken = async (token: string, tenant?: string): Promise<TokenOutcome> => {
    const checked = await identityProvider?.verify(token);
    if (!checked) return { outcome: 'invalid' };
    return checked.outcome === 'valid' ? identified(checked.identity, tenant) : checked;
  };
  /** Codes are counted per person, wherever they come from: only who knows the password gets here. */
  const byCode = (actor: Actor, code: string): Promise<ProofOutcome> =>
    signInThrottle.attempt<ProofOutcome>('second factor', actor.id, async () => {
      const isSpent = await spendSecondFactor(database, encryption, { userId: actor.id, code, now: now() });
      return isSpent
        ? {
            verdict: 'right',
            value: { outcome: 'proven', proof: { actor, aal: 'aal2', how: 'by password and second factor' } },
          }
        : { verdict: 'wrong', value: { outcome: 'code_refused', ticket: tickets.issue(actor) } };
    });

  return {
    byPassword: async ({ email, password, tenant, code, address }) => {
      const actor = await signInThrottle.attemptSignIn(address, email, async () => {
        const found = await findLogin(database, email, tenant);
        const isRight = await isPasswordRight(found?.passwordHash, password);
        if (!isRight || !found?.tenantId || !found.role) return { verdict: 'wrong', value: undefined };
        const { userId, tenantId, tenantSlug, role } = found;
        return {
          verdict: 'right',
          value: personOf({ userId, tenantId, tenantSlug, email: email.toLowerCase() }, role),
        };
      });
      if (!actor) return { outcome: 'refused' };
      if (!(await isSecondFactorNeeded(database, actor.id)))
        return { outcome: 'proven', proof: { actor, aal: 'aal1', how: 'by password' } };
      return code === undefined ? { outcome: 'code_needed', ticket: tickets.issue(actor) } : byCode(actor, code);
    },

    async byTicket(ticket, code) {
      const actor = tickets.open(ticket);
      return actor ? byCode(actor, code) : { outcome: 'refused' };
    },

    async byIdentity(identity, tenant) {
      const named = await identified(identity, tenant);
      return named.outcome === 'named' ? named.proof : undefined;
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
      return { outcome: 'named', userId: actor.id, proof, isMember: session.role !== null, sessionId };
    },

    async keepHostAccount({ userId, proof }, host, account, requestId) {
      // Without a tenant there is no trail to write to.
      if (!proof) return saveHostAccount(database, userId, host, account);
      return actingAs(proof.actor, { requestId })((tx) => saveOwnHostAccount(tx, host, account));
    },
  };
}

/** Encrypted statements that somebody's password was right, for the second step of a sign-in. */
function signInTickets(encryption: Encryption, now: () => Date) {
  interface Ticket {
    actor: Actor;
    expiresAt: number;
  }
  return {
    issue(actor: Actor): string {
      const ticket: Ticket = { actor, expiresAt: now().getTime() + TICKET_MS };
      return encryption.encrypt(JSON.stringify(ticket), TICKET_CONTEXT);
    },
    open(text: string): Actor | undefined {
      try {
        const { actor, expiresAt } = JSON.parse(encryption.decrypt(text, TICKET_CONTEXT)) as Ticket;
        return expiresAt > now().getTime() ? actor : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

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
