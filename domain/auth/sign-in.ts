import type { MikroORM } from '@mikro-orm/postgresql';
import type { Actor, Role } from '../shared/actor.ts';
import type { Encryption } from '../shared/encryption.ts';
import { unitOfWork } from '../unit-of-work.ts';
import type { AccessTokens, AssuranceLevel } from './access-tokens.ts';
import type { Guesses } from './guesses.ts';
import type { Identity } from './identity-provider.port.ts';
import type { SecondFactors } from './second-factor.ts';
import { hashSecret, isPasswordRight } from './secrets.ts';
import { beginCookieSession, beginTokenSession, continueSession, endSession, isUnspent, type Proof } from './sessions.ts';

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

/** People prove who they are, and sessions are begun, kept and ended. */
export interface SignIn {
  /**
   * @param tenant slug; absent: the tenant of the oldest membership.
   * @param address of the client. Throws `rate_limited` when it has failed too often with this e-mail.
   */
  byPassword(input: { email: string; password: string; tenant?: string | undefined; code?: string | undefined; address: string }): Promise<ProofOutcome>;
  /** The second step, for forms that ask for the code by itself. A ticket that is not good is `refused`. */
  byTicket(ticket: string, code: string): Promise<ProofOutcome>;
  /** The person whom the OpenID provider names, by e-mail or alias. Second factors are that provider's matter. */
  byIdentity(identity: Identity, tenant?: string): Promise<Proof | undefined>;
  /** Begins a session of an API client. */
  withTokens(proof: Proof, requestId: string): Promise<SignedIn>;
  /** Begins a session of a browser; answers the secret of its cookie. `begunFrom`: the session with which it ends. */
  withCookie(proof: Proof, requestId: string, begunFrom?: string): Promise<string>;
  /**
   * The person and the session of an access token of ours, whether a member still or not.
   * @param refreshToken when given, it must be an unspent one of the same session.
   */
  byAccessToken(token: string, refreshToken?: string): Promise<{ proof: Proof; sessionId: string; isMember: boolean } | undefined>;
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
interface RefreshRow extends Omit<PersonRow, 'role'> {
  session_id: string;
}
interface Ticket {
  actor: Actor;
  expiresAt: number;
}

interface SignInParts {
  accessTokens: AccessTokens;
  guesses: Guesses;
  secondFactors: SecondFactors;
  encryption: Encryption;
  now: () => Date;
}

export function createSignIn(orm: MikroORM, { accessTokens, guesses, secondFactors, encryption, now }: SignInParts): SignIn {
  const query = <Row>(statement: string, parameters: unknown[]): Promise<Row[]> =>
    orm.em.getConnection().execute(statement, parameters) as unknown as Promise<Row[]>;
  const findRefresh = async (token: string): Promise<RefreshRow | undefined> =>
    (await query<RefreshRow>('select * from auth_refresh(?)', [hashSecret(token)]))[0];
  const signedIn = async (actor: Actor, sessionId: string, aal: AssuranceLevel, refreshToken: string): Promise<SignedIn> => ({
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
    encryption.encrypt(JSON.stringify({ actor, expiresAt: now().getTime() + TICKET_MS } satisfies Ticket), TICKET_CONTEXT);
  const openTicket = (ticket: string): Actor | undefined => {
    try {
      const { actor, expiresAt } = JSON.parse(encryption.decrypt(ticket, TICKET_CONTEXT)) as Ticket;
      return expiresAt > now().getTime() ? actor : undefined;
    } catch {
      return undefined;
    }
  };
  /** Codes are counted per person, wherever they come from: only who knows the password gets here. */
  const byCode = (actor: Actor, code: string): Promise<ProofOutcome> =>
    guesses.attempt<ProofOutcome>('second factor', actor.id, async () =>
      (await secondFactors.spend(actor.id, code, now()))
        ? { verdict: 'right', value: { outcome: 'proven', proof: { actor, aal: 'aal2', how: 'by password and second factor' } } }
        : { verdict: 'wrong', value: { outcome: 'code_refused', ticket: ticketFor(actor) } },
    );

  return {
    byPassword: async ({ email, password, tenant, code, address }) => {
      const actor = await guesses.attempt(address, email, async () => {
        const [found] = await query<LoginRow>('select * from auth_login(?, ?)', [email, tenant ?? null]);
        const isRight = await isPasswordRight(found?.password_hash, password);
        if (!isRight || !found?.tenant_id || !found.role) return { verdict: 'wrong', value: undefined };
        return { verdict: 'right', value: personOf({ ...found, tenant_id: found.tenant_id, email: email.toLowerCase() }, found.role) };
      });
      if (!actor) return { outcome: 'refused' };
      if (!(await secondFactors.isNeeded(actor.id))) return { outcome: 'proven', proof: { actor, aal: 'aal1', how: 'by password' } };
      return code === undefined ? { outcome: 'code_needed', ticket: ticketFor(actor) } : byCode(actor, code);
    },

    async byTicket(ticket, code) {
      const actor = openTicket(ticket);
      return actor ? byCode(actor, code) : { outcome: 'refused' };
    },

    async byIdentity({ email, aal }, tenant) {
      const [found] = await query<PersonRow>('select * from auth_people(array[?]::text[], ?)', [email, tenant ?? null]);
      return found?.role ? { actor: personOf(found, found.role), aal, how: 'by the identity provider' } : undefined;
    },

    withTokens: ({ actor, ...proof }, requestId) =>
      unitOfWork(orm, { actor, requestId })(async (tx) => {
        const { sessionId, refreshToken } = await beginTokenSession(tx, { actor, ...proof });
        return signedIn(actor, sessionId, proof.aal, refreshToken);
      }),

    withCookie: (proof, requestId, begunFrom) =>
      unitOfWork(orm, { actor: proof.actor, requestId })((tx) => beginCookieSession(tx, proof, begunFrom)),

    async byAccessToken(token, refreshToken) {
      const claims = await accessTokens.verify(token);
      if (!claims) return undefined;
      const [session] = await query<PersonRow>('select * from auth_sessions(array[?]::uuid[])', [claims.sid]);
      if (session?.user_id !== claims.sub || session.tenant_id !== claims.tenant) return undefined;
      const actor = personOf(session, session.role ?? 'member');
      if (refreshToken !== undefined && !(await unitOfWork(orm, { actor })((tx) => isUnspent(tx, claims.sid, refreshToken)))) return undefined;
      return { proof: { actor, aal: claims.aal, how: 'by an access token' }, sessionId: claims.sid, isMember: session.role !== null };
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
      await unitOfWork(orm, { actor: personOf(found, 'member'), requestId })((tx) => endSession(tx, found.session_id, 'logout'));
    },

    async endOwn(actor, requestId) {
      const { sessionId } = actor;
      if (sessionId !== undefined) await unitOfWork(orm, { actor, requestId })((tx) => endSession(tx, sessionId, 'logout'));
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
