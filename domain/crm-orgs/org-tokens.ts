import { setTimeout as sleep } from 'node:timers/promises';
import { type AuthUrl, DEFAULT_CLIENT_ID, OAUTH_REDIRECT_URI } from '../crm/auth-url-rules.ts';
import type { CrmAnswer, CrmFailure, CrmOrg, CrmPlatform, MintedToken } from '../crm/crm-platform.port.ts';
import { failure as crmFailure } from '../crm/platform-error-rules.ts';
import { persistently } from '../data/database-trouble.ts';
import type { FencedReads } from '../data/fenced-reads.ts';
import { type Actor, systemActor, type TenantKey } from '../shared/actor.ts';
import type { Encryption } from '../shared/encryption.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { orgByUsername } from './crm-orgs.queries.ts';
import { openAccessToken, openCredential, sealAccessToken, sealCredential } from './crm-secrets.ts';
import {
  freeLease,
  type Lease,
  storeFailure,
  storeToken,
  takeLease,
  type TokenKey,
  tokenState,
  type TokenState,
} from './crm-tokens.queries.ts';
import { lockedOrg, noteHealth, noteMoved } from './org-health.mutations.ts';

/** Whose token it is, in which tenant. */
export interface OrgPlace extends TenantKey {
  /** Of the row. */
  orgId: string;
  /** A sandbox of that org which is not registered; absent: the org itself. */
  sandboxName?: string;
}

export interface TokenNeed {
  /** A token that was minted longer ago is no good. */
  maxAgeMs: number;
  /** An access token that the org refused: another one is needed. */
  refused?: string;
  /** Asks the platform although it refused the credential before; for people who test or renew it. */
  isForced?: boolean;
  /** Gives way when nearly all calls of the org's day are used up. */
  isBackground?: boolean;
  signal?: AbortSignal | undefined;
}

export interface OrgToken {
  accessToken: string;
  /** Origin that it is for. */
  instanceUrl: string;
  mintedAt: Date;
  /** Of a sandbox that is not registered; else null. */
  username: string | null;
  platformOrgId: string | null;
  credentialVersion: number;
}

export interface OrgTokenParts {
  platform: CrmPlatform;
  reads: FencedReads;
  actingAs: (actor: Actor) => UnitOfWork;
  encryption: Encryption;
  now: () => Date;
}

/** The calls of an org with its stored credential. */
export type CallOrg = (place: OrgPlace, options?: { signal?: AbortSignal | undefined }) => CrmOrg;

/** Each call to the platform takes at most 20 s: a refresh is one, an exchange up to six. */
const REFRESH_LEASE_MS = 30_000;
const EXCHANGE_LEASE_MS = 150_000;
/** How long others wait for whoever mints. */
const WAIT_MS = 25_000;
const LOOK_EVERY_MS = 40;
/** Above this part of the daily calls, background work leaves the rest to people. */
const RESERVED_FROM = 0.95;
const USAGE_KNOWN_MS = 60 * 60_000;

const NOT_REGISTERED = crmFailure('not_found', null, 'The org is not registered.', 'Register it.');
const NO_CREDENTIAL = crmFailure('auth_failed', null, 'There is no credential for the org.', 'Register it again.');
const STILL_MINTING = crmFailure(
  'timeout',
  null,
  'Another process has been asking for a token for too long.',
  'Try again in a minute.',
);
const CALLS_RESERVED = crmFailure(
  'limited',
  'DAILY_CALLS_RESERVED',
  'More than 95 % of the daily calls of the org are used up.',
  'Work in the background goes on when there are calls again.',
);

/** The end of an attempt; `lost`: somebody else has the lease, or the credential was replaced. */
type Attempt = CrmAnswer<OrgToken> | 'lost';
/** `isOwn`: the credential of the org itself was used, not that of its production org. */
type Obtained = Minted | Refused;
interface Minted {
  isOk: true;
  minted: MintedToken;
  credential: AuthUrl | null;
  /** Where a code was exchanged. */
  username: string | null;
}
interface Refused {
  isOk: false;
  failure: CrmFailure;
  isOwn: boolean;
  /** The refresh token of a sandbox was refused: only a new code helps. */
  isCacheDead?: boolean;
}

/**
 * Access tokens of orgs, minted by one at a time: whoever takes the lease in the token's row asks the platform, outside
 * any transaction; callers in this process share the attempt, other processes wait for its result in the row. A refusal
 * marks the org, and the platform is not asked again before people renew or test the credential.
 * @param callOrg for the production org of a sandbox.
 */
export function createOrgTokens(parts: OrgTokenParts, callOrg: CallOrg) {
  const { reads, encryption, actingAs, now } = parts;
  const attempts = new Map<string, Promise<Attempt>>();
  const actorOf = (tenant: TenantKey) => systemActor(tenant, 'crm');

  /** Carries out an attempt, or joins the one of this process that began from the same state. */
  const attempt = (place: OrgPlace, state: TokenState): Promise<Attempt> => {
    const name = attemptName(place, state);
    const running = attempts.get(name) ?? mint(place, state).finally(() => attempts.delete(name));
    attempts.set(name, running);
    return running;
  };

  async function mint(place: OrgPlace, state: TokenState): Promise<Attempt> {
    const unit = actingAs(actorOf(place));
    const isJit = place.sandboxName !== undefined || state.isJitRegistration;
    const lease = await unit((tx) =>
      takeLease(tx, keyOf(place), state.generation ?? 0, isJit ? EXCHANGE_LEASE_MS : REFRESH_LEASE_MS),
    );
    if (!lease) return 'lost';
    let obtained: Obtained;
    try {
      obtained = await (isJit ? obtainForSandbox(place, state, lease) : obtainByRefresh(lease));
    } catch (error) {
      await unit((tx) => freeLease(tx, lease)).catch(() => undefined);
      throw error;
    }
    // A token that was replaced must not be lost to a restart of the database.
    return persistently(() =>
      obtained.isOk ? keepToken(place, state, lease, obtained) : keepFailure(place, lease, obtained),
    );
  }

  const credentialOf = ({ credential, tokenId }: Lease): AuthUrl | null =>
    credential === null ? null : openCredential(encryption, tokenId, credential);

  async function obtainByRefresh(lease: Lease): Promise<Obtained> {
    const credential = credentialOf(lease);
    if (!credential) return { isOk: false, failure: NO_CREDENTIAL, isOwn: true };
    const answer = await parts.platform.refresh(credential);
    return answer.isOk
      ? { isOk: true, minted: answer.value, credential: renewedBy(credential, answer.value), username: null }
      : { isOk: false, failure: answer, isOwn: true };
  }

  /** The refresh token of a sandbox is a cache: when it is dead, its production org gives a new code. */
  async function obtainForSandbox(place: OrgPlace, state: TokenState, lease: Lease): Promise<Obtained> {
    if (lease.credential !== null) {
      const refreshed = await obtainByRefresh(lease);
      if (refreshed.isOk || refreshed.failure.kind !== 'auth_failed') return refreshed;
    }
    const sandboxName = place.sandboxName ?? state.ownSandboxName ?? '';
    const productionUsername = place.sandboxName === undefined ? state.parentProductionUsername : state.orgUsername;
    const byProduction = (failure: CrmFailure): Obtained => ({
      isOk: false,
      failure: { ...failure, message: `The production org ${productionUsername} was asked: ${failure.message}` },
      isOwn: false,
      isCacheDead: lease.credential !== null,
    });
    const production =
      place.sandboxName === undefined
        ? await orgByUsername(reads.as(actorOf(place)), productionUsername ?? '')
        : { id: place.orgId };
    if (!production) return byProduction(NOT_REGISTERED);
    const productionPlace = { tenantId: place.tenantId, tenantSlug: place.tenantSlug, orgId: production.id };
    const client = await clientOf(productionPlace);
    const code = await callOrg(productionPlace).sandboxAuth({ sandboxName, clientId: client.clientId });
    if (!code.isOk) return byProduction(code);
    const { loginUrl, username } = code.value;
    const answer = await parts.platform.exchangeCode({
      ...client,
      loginUrl,
      code: code.value.code,
      redirectUri: OAUTH_REDIRECT_URI,
    });
    if (!answer.isOk) return { isOk: false, failure: answer, isOwn: true, isCacheDead: lease.credential !== null };
    const { refreshToken } = answer.value;
    return {
      isOk: true,
      minted: answer.value,
      credential: refreshToken === null ? null : { ...client, refreshToken, loginUrl },
      username,
    };
  }

  /** A code is only given for, and exchanged by, the app that the production org is signed in to with. */
  async function clientOf(place: OrgPlace) {
    const state = await tokenState(reads.as(actorOf(place)), keyOf(place));
    if (!state?.credential || state.tokenId === null) return { clientId: DEFAULT_CLIENT_ID, clientSecret: '' };
    const { clientId, clientSecret } = openCredential(encryption, state.tokenId, state.credential);
    return { clientId, clientSecret };
  }

  async function keepToken(
    place: OrgPlace,
    state: TokenState,
    lease: Lease,
    { minted, credential, username }: Minted,
  ): Promise<Attempt> {
    const { accessToken, instanceUrl, orgId: platformOrgId } = minted;
    const mintedAt = now();
    const isOwn = place.sandboxName === undefined;
    const moved = {
      instanceUrl: state.instanceUrl === instanceUrl ? undefined : instanceUrl,
      platformOrgId: state.platformOrgId === platformOrgId ? null : platformOrgId,
    };
    const isMoved = moved.instanceUrl !== undefined || moved.platformOrgId !== null;
    const store = (isLate: boolean) =>
      actingAs(actorOf(place))(async (tx) => {
        if (isOwn && (isMoved || isLate)) await lockedOrg(tx, place.orgId);
        const token = {
          accessToken: sealAccessToken(encryption, lease.tokenId, accessToken),
          credential: credential && sealCredential(encryption, lease.tokenId, credential),
          instanceUrl,
          mintedAt,
          ...(platformOrgId !== null && { platformOrgId }),
          ...(username !== null && { username }),
        };
        const row = await storeToken(tx, lease, token, { isLate });
        if (row && isOwn && isMoved) await noteMoved(tx, place.orgId, moved);
        // Another process may have tried the void credential meanwhile, and marked the org.
        if (row && isOwn && isLate) await noteHealth(tx, place.orgId, undefined);
        return row;
      });
    const isRotated = minted.refreshToken !== null && lease.credential !== null;
    const stored = (await store(false)) ?? (isRotated ? await store(true) : undefined);
    return stored ? { isOk: true, value: { ...stored, accessToken, instanceUrl, mintedAt } } : 'lost';
  }

  async function keepFailure(
    place: OrgPlace,
    lease: Lease,
    { failure, isOwn, isCacheDead = false }: Refused,
  ): Promise<Attempt> {
    const isRefused = isOwn && failure.kind === 'auth_failed';
    const isStored = await actingAs(actorOf(place))(async (tx) => {
      if (isRefused && place.sandboxName === undefined) await lockedOrg(tx, place.orgId);
      const dead = { accessToken: isRefused || isCacheDead, credential: isCacheDead };
      const stored = await storeFailure(tx, lease, failure, dead);
      if (stored && isRefused && place.sandboxName === undefined) await noteHealth(tx, place.orgId, failure);
      return stored;
    });
    return isStored ? failure : 'lost';
  }

  const storedToken = (state: TokenState): OrgToken | undefined => {
    const { tokenId, accessToken, instanceUrl, mintedAt, username, platformOrgId, credentialVersion } = state;
    if (tokenId === null || accessToken === null || instanceUrl === null || mintedAt === null) return undefined;
    return {
      accessToken: openAccessToken(encryption, tokenId, accessToken),
      instanceUrl,
      mintedAt: new Date(mintedAt),
      username,
      platformOrgId,
      credentialVersion: credentialVersion ?? 1,
    };
  };

  const satisfies = (token: OrgToken, { maxAgeMs, refused }: TokenNeed): boolean =>
    token.accessToken !== refused && now().getTime() - token.mintedAt.getTime() < maxAgeMs;

  return {
    /** A token that satisfies a need: the stored one, or one that is minted now. */
    async of(place: OrgPlace, need: TokenNeed): Promise<CrmAnswer<OrgToken>> {
      const deadline = Date.now() + WAIT_MS;
      let awaited: number | undefined;
      for (;;) {
        need.signal?.throwIfAborted();
        const state = await tokenState(reads.as(actorOf(place)), keyOf(place));
        if (!state) return NOT_REGISTERED;
        if (need.isBackground && isReserved(state, now())) return CALLS_RESERVED;
        const refusal = place.sandboxName === undefined && !need.isForced ? refusalOf(state) : undefined;
        if (refusal) return refusal;
        const token = storedToken(state);
        if (token && satisfies(token, need)) return { isOk: true, value: token };
        const generation = state.generation ?? 0;
        if (state.failure && awaited !== undefined && generation > awaited) return state.failure;
        const isRunningHere = attempts.has(attemptName(place, state));
        if (state.isLeased && !isRunningHere) {
          if (Date.now() > deadline) return STILL_MINTING;
          awaited ??= generation;
          await sleep(LOOK_EVERY_MS, undefined, { signal: need.signal });
          continue;
        }
        const answer = await attempt(place, state);
        if (answer !== 'lost') return answer;
      }
    },

    /** The long-lived credential as stored; null for a sandbox before its first code was exchanged. */
    async credentialOf(place: OrgPlace): Promise<AuthUrl | null> {
      const state = await tokenState(reads.as(actorOf(place)), keyOf(place));
      return state?.tokenId && state.credential ? openCredential(encryption, state.tokenId, state.credential) : null;
    },
  };
}

const keyOf = ({ orgId, sandboxName = '' }: OrgPlace): TokenKey => ({ orgId, sandboxName: sandboxName.toLowerCase() });

const attemptName = (place: OrgPlace, { generation }: TokenState): string =>
  `${place.tenantId} ${place.orgId} ${keyOf(place).sandboxName} ${generation ?? 0}`;

/** A refresh may bring a new refresh token, which replaces the one that was used. */
const renewedBy = (credential: AuthUrl, { refreshToken }: MintedToken): AuthUrl =>
  refreshToken === null ? credential : { ...credential, refreshToken };

/** What the platform answered when it refused the credential; undefined while it has not. */
function refusalOf({ healthStatus, healthError, healthHint, failure: last }: TokenState): CrmFailure | undefined {
  if (healthStatus !== 'auth_failed') return undefined;
  const code = last?.kind === 'auth_failed' ? last.code : null;
  return crmFailure('auth_failed', code, healthError ?? NO_CREDENTIAL.message, healthHint ?? NO_CREDENTIAL.hint);
}

function isReserved({ apiCallsUsed, apiCallsMax, apiCallsAt }: TokenState, now: Date): boolean {
  if (apiCallsUsed === null || apiCallsMax === null || apiCallsAt === null) return false;
  const isKnown = now.getTime() - Date.parse(apiCallsAt) < USAGE_KNOWN_MS;
  return isKnown && apiCallsUsed > apiCallsMax * RESERVED_FROM;
}
