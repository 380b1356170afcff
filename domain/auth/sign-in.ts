import type { MikroORM } from '@mikro-orm/postgresql';
import type { Actor, Role } from '../shared/actor.ts';
import type { Encryption } from '../shared/encryption.ts';
import { unitOfWork } from '../unit-of-work.ts';
import type { AccessTokens, AssuranceLevel } from './access-tokens.ts';
import { keepHostAccount } from './aliases.ts';
import type { HostAccount, SignInHost } from './code-host.port.ts';
import type { SignInThrottle } from './sign-in-throttle.ts';
import type { Identity, IdentityProvider } from './identity-provider.port.ts';
import type { SecondFactors } from './second-factor.ts';
import { hashSecret, isPasswordRight } from './secrets.ts';
import {
  beginCookieSession,
  beginTokenSession,
  continueSession,
  endSession,
  isUnspent,
  type Proof,
} from './sessions.ts';

/** A person who proved the password has so long to give the code. */
const TICKET_MS = 5 * 60_000;
const TICKET_CONTEXT = 'sign-in ticket';

export interface SignedIn {
  accessToken: string;
  refreshToken: string;
  aal: AssuranceLevel;
  user: { id: string; email: string; role: Role };
}

export type ProofOutcome =
  | { outcome: 'proven'; proof: Proof }
  | { outcome: 'refused' }
  /** The password is right; `ticket` says so to `byTicket`, and tells its holder nothing. */
  | { outcome: 'code_needed'; ticket: string }
  | { outcome: 'code_refused'; ticket: string };

/** A person whom a token names. */
export interface NamedPerson {
  userId: string;
  /** In the tenant of the token, or of the oldest membership; absent for a member of none. */
  proof?: Proof;
  isMember: boolean;
  /** The session of a token of ours. */
  sessionId?: string;
}

export type TokenOutcome =
  | ({ outcome: 'named' } & NamedPerson)
  /** The token is good, but its e-mail names nobody. */
  | { outcome: 'unknown' }
  | { outcome: 'invalid' }
  | { outcome: 'failed'; reason: 'timeout' | 'error' };

/** People prove who they are, and sessions are begun, kept and ended. */
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
  /** The second step, for forms that ask for the code by itself. A ticket that is not good is `refused`. */
  byTicket(ticket: string, code: string): Promise<ProofOutcome>;
  /** The person whom the OpenID provider names, by e-mail or alias. Second factors are that provider's matter. */
  byIdentity(identity: Identity, tenant?: string): Promise<Proof | undefined>;
  /** Begins a session of an API client. */
  withTokens(proof: Proof, requestId: string): Promise<SignedIn>;
  /** Begins a session of a browser; answers the secret of its cookie. `begunFrom`: the session with which it ends. */
  withCookie(proof: Proof, requestId: string, begunFrom?: string): Promise<string>;
  /**
   * Whom an access token names, of ours or of the OpenID provider, member or not.
   * @param refreshToken when given with a token of ours, it must be an unspent one of the same session.
   */
  byToken(
    accessToken: string,
    options?: { refreshToken?: string | undefined; tenant?: string | undefined },
  ): Promise<TokenOutcome>;
  /** Keeps what a host says of the person whom a token named; answers the e-mails that name the person now. */
  keepHostAccount(named: NamedPerson, host: SignInHost, account: HostAccount, requestId: string): Promise<string[]>;
  /** Spends the token and gives a new one; a spent token that comes again ends its whole session. */
  refresh(refreshToken: string, requestId: string): Promise<SignedIn | undefined>;
  /** Ends the session of a refresh token; an unknown one changes nothing. */
  end(refreshToken: string, requestId: string): Promise<void>;
  /** Ends the session in which a person acts. */
  endOwn(actor: Actor, requestId: string): Promise<void>;
}

interface LoginRow {
  user_id: string;
  password_hash: string | null;
  tenant_id: string | null;
  role: Role | null;
}
interface PersonRow {
  user_id: string;
  email: string;
  tenant_id: string;
  role: Role | null;
}
type IdentifiedRow = Omit<PersonRow, 'tenant_id'> & { tenant_id: string | null };
interface RefreshRow extends Omit<PersonRow, 'role'> {
  session_id: string;
}
interface Ticket {
  actor: Actor;
  expiresAt: number;
}

interface SignInParts {
  accessTokens: AccessTokens;
  signInThrottle: SignInThrottle;
  secondFactors: SecondFactors;
  encryption: Encryption;
  identityProvider: IdentityProvider | undefined;
  now: () => Date;
}

export function createSignIn(
  orm: MikroORM,
  { accessTokens, signInThrottle, secondFactors, encryption, identityProvider, now }: SignInParts,
): SignIn {
  const query = <Row>(statement: string, parameters: unknown[]): Promise<Row[]> =>
    orm.em.getConnection().execute(statement, parameters) as unknown as Promise<Row[]>;
  const findRefresh = async (token: string): Promise<RefreshRow | undefined> =>
    (await query<RefreshRow>('select * from auth_refresh(?)', [hashSecret(token)]))[0];
  const signedIn = async (
    actor: Actor,
    sessionId: string,
    aal: AssuranceLevel,
    refreshToken: string,
  ): Promise<SignedIn> => ({
    accessToken: await accessTokens.sign({
      sub: actor.id,
      tenant: actor.tenantId,
      role: actor.role,
      email: actor.email,
      aal,
      sid: sessionId,
    }),
    refreshToken,
    aal,
    user: { id: actor.id, email: actor.email, role: actor.role },
  });
  const ticketFor = (actor: Actor): string =>
    encryption.encrypt(
      JSON.stringify({ actor, expiresAt: now().getTime() + TICKET_MS } satisfies Ticket),
      TICKET_CONTEXT,
    );
  const openTicket = (ticket: string): Actor | undefined => {
    try {
      const { actor, expiresAt } = JSON.parse(encryption.decrypt(ticket, TICKET_CONTEXT)) as Ticket;
      return expiresAt > now().getTime() ? actor : undefined;
    } catch {
      return undefined;
    }
  };
  const identified = async ({ email, aal }: Identity, tenant?: string): Promise<TokenOutcome> => {
    const [found] = await query<IdentifiedRow>('select * from auth_people(array[?]::text[], ?)', [
      email,
      tenant ?? null,
    ]);
    if (!found) return { outcome: 'unknown' };
    const { user_id: userId, tenant_id, role } = found;
    if (tenant_id === null || role === null) return { outcome: 'named', userId, isMember: false };
    return {
      outcome: 'named',
      userId,
      isMember: true,
      proof: { actor: personOf({ ...found, tenant_id }, role), aal, how: 'by the identity provider' },
    };
  };
  const byProvidersToken = async (token: string, tenant?: string): Promise<TokenOutcome> => {
    const checked = await identityProvider?.verify(token);
    if (!checked) return { outcome: 'invalid' };
    return checked.outcome === 'valid' ? identified(checked.identity, tenant) : checked;
  };
  /** Codes are counted per person, wherever they come from: only who knows the password gets here. */
  const byCode = (actor: Actor, code: string): Promise<ProofOutcome> =>
    signInThrottle.attempt<ProofOutcome>('second factor', actor.id, async () =>
      (await secondFactors.spend(actor.id, code, now()))
        ? {
            verdict: 'right',
            value: { outcome: 'proven', proof: { actor, aal: 'aal2', how: 'by password and second factor' } },
          }
        : { verdict: 'wrong', value: { outcome: 'code_refused', ticket: ticketFor(actor) } },
    );

  return {
    byPassword: async ({ email, password, tenant, code, address }) => {
      const actor = await signInThrottle.attempt(address, email, async () => {
        const [found] = await query<LoginRow>('select * from auth_login(?, ?)', [email, tenant ?? null]);
        const isRight = await isPasswordRight(found?.password_hash, password);
        if (!isRight || !found?.tenant_id || !found.role) return { verdict: 'wrong', value: undefined };
        return {
          verdict: 'right',
          value: personOf({ ...found, tenant_id: found.tenant_id, email: email.toLowerCase() }, found.role),
        };
      });
      if (!actor) return { outcome: 'refused' };
      if (!(await secondFactors.isNeeded(actor.id)))
        return { outcome: 'proven', proof: { actor, aal: 'aal1', how: 'by password' } };
      return code === undefined ? { outcome: 'code_needed', ticket: ticketFor(actor) } : byCode(actor, code);
    },

    async byTicket(ticket, code) {
      const actor = openTicket(ticket);
      return actor ? byCode(actor, code) : { outcome: 'refused' };
    },

    async byIdentity(identity, tenant) {
      const named = await identified(identity, tenant);
      return named.outcome === 'named' ? named.proof : undefined;
    },

    withTokens: ({ actor, ...proof }, requestId) =>
      unitOfWork(orm, { actor, requestId })(async (tx) => {
        const { sessionId, refreshToken } = await beginTokenSession(tx, { actor, ...proof });
        return signedIn(actor, sessionId, proof.aal, refreshToken);
      }),

    withCookie: (proof, requestId, begunFrom) =>
      unitOfWork(orm, { actor: proof.actor, requestId })((tx) => beginCookieSession(tx, proof, begunFrom)),

    async byToken(accessToken, { refreshToken, tenant } = {}) {
      const claims = await accessTokens.verify(accessToken);
      if (!claims) return byProvidersToken(accessToken, tenant);
      const [session] = await query<PersonRow>('select * from auth_sessions(array[?]::uuid[])', [claims.sid]);
      if (session?.user_id !== claims.sub || session.tenant_id !== claims.tenant) return { outcome: 'invalid' };
      const actor = personOf(session, session.role ?? 'member');
      const isGood =
        refreshToken === undefined ||
        (await unitOfWork(orm, { actor })((tx) => isUnspent(tx, claims.sid, refreshToken)));
      if (!isGood) return { outcome: 'invalid' };
      const proof: Proof = { actor, aal: claims.aal, how: 'by an access token' };
      return { outcome: 'named', userId: actor.id, proof, isMember: session.role !== null, sessionId: claims.sid };
    },

    async keepHostAccount({ userId, proof }, host, account, requestId) {
      // Without a tenant there is no trail to write to.
      if (!proof)
        return keepHostAccount(
          (statement, parameters = []) => query(statement, [...parameters]),
          userId,
          host,
          account,
        );
      return unitOfWork(orm, { actor: proof.actor, requestId })(async (tx) => {
        const aliases = await keepHostAccount(tx.sql, userId, host, account);
        const summary = `${proof.actor.email} is known by ${aliases.length} of ${account.emails.length} verified e-mails of ${host}`;
        tx.audit({
          source: 'user',
          action: 'user.aliases_resolved',
          entityType: 'user',
          entityId: userId,
          summary,
          after: { host, username: account.username, aliases },
        });
        return aliases;
      });
    },

    async refresh(refreshToken, requestId) {
      const found = await findRefresh(refreshToken);
      if (!found) return undefined;
      const bearer = personOf(found, 'member');
      return unitOfWork(orm, { actor: bearer, requestId })(async (tx) => {
        const next = await continueSession(tx, found.session_id, refreshToken);
        return next && signedIn({ ...bearer, role: next.role }, found.session_id, next.aal, next.refreshToken);
      });
    },

    async end(refreshToken, requestId) {
      const found = await findRefresh(refreshToken);
      if (!found) return;
      await unitOfWork(orm, { actor: personOf(found, 'member'), requestId })((tx) =>
        endSession(tx, found.session_id, 'logout'),
      );
    },

    async endOwn(actor, requestId) {
      const { sessionId } = actor;
      if (sessionId !== undefined)
        await unitOfWork(orm, { actor, requestId })((tx) => endSession(tx, sessionId, 'logout'));
    },
  };
}

const personOf = ({ user_id: id, tenant_id: tenantId, email }: Omit<PersonRow, 'role'>, role: Role): Actor => ({
  type: 'user',
  id,
  tenantId,
  role,
  email,
});
