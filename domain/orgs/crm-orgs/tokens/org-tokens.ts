import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { AuthUrl } from '../../crm/auth-url-rules.ts';
import type { CrmAnswer, CrmFailure, CrmFailureKind, CrmPlatform, PlatformLimit } from '../../crm/crm-platform.port.ts';
import { failure as crmFailure } from '../../crm/platform-error-rules.ts';
import type { FencedReads } from '../../../kernel/data/fenced-reads.ts';
import type { Actor } from '../../../kernel/shared/actor.ts';
import type { Encryption } from '../../../kernel/encryption/encryption.ts';
import type { UnitOfWork } from '../../../unit-of-work.ts';
import { openAccessToken, openCredential } from './crm-secrets.ts';
import { tokenState, type TokenState } from './crm-tokens.queries.ts';
import type { CallOrg } from './org-connections.ts';
import { NO_CREDENTIAL, NOT_REGISTERED, sourceOf } from './org-grants.ts';
import type { OrgHealthStatus } from '../org-health-rules.ts';
import { type Attempt, createMinting, type MintingTimes } from './org-minting.ts';
import { actorOf, isJustInTime, isRegistered, keyOf, type OrgKey } from '../org-keys.ts';

export interface TokenNeed {
  /** A token that was minted longer ago is no good. */
  maxAgeMs: number;
  /** An access token that the org refused: another one is needed. */
  refused?: string;
  /** Asks the platform although it refused the credential before; for people who test or renew it. */
  isForced?: boolean;
  /** Gives way when nearly all calls of the org's day are used up. */
  isBackground?: boolean;
  /** A run's: leaves the last tenth of the calls of the org's day to people. */
  isRun?: boolean;
  signal?: AbortSignal | undefined;
}

export interface OrgToken {
  accessToken: string;
  /** Origin that it is for. */
  instanceUrl: string;
  mintedAt: Date;
  /** Username in an org that is not registered; null for a registered org. */
  username: string | null;
  platformOrgId: string | null;
  credentialVersion: number;
  /** Health of the registered org when the token was asked for. */
  healthStatus: OrgHealthStatus;
}

export interface OrgTokenParts {
  platform: CrmPlatform;
  reads: FencedReads;
  actingAs: (actor: Actor) => UnitOfWork;
  encryption: Encryption;
  now: () => Date;
  log: Logger;
  /** Shorter in tests. */
  times?: Partial<MintingTimes>;
}

/** How long others wait for whoever mints: longer than the lease of a process that died. */
const WAIT_MS = 40_000;
const LOOK_EVERY_MS = 40;
/** Above these parts of the daily calls, work in the background and runs leave the rest to people. */
const BACKGROUND_UP_TO = 0.95;
const RUNS_UP_TO = 0.9;
const USAGE_KNOWN_MS = 60 * 60_000;

export const STILL_MINTING = crmFailure(
  'timeout',
  null,
  'Another process has been asking for a token for too long.',
  'Try again in a minute.',
);
const callsReserved = (part: number): CrmFailure =>
  crmFailure(
    'limited',
    'DAILY_CALLS_RESERVED',
    `More than ${part * 100} % of the daily calls of the org are used up.`,
    'Work in the background and runs go on when there are calls again.',
  );

/** Why runs leave an org alone, by the limits that it has now; null: they may call it. */
export function whyNoCallsOfRuns(limits: readonly PlatformLimit[]): CrmFailure | null {
  const daily = limits.find(({ name }) => name === 'DailyApiRequests');
  return daily && daily.max - daily.remaining > daily.max * RUNS_UP_TO ? callsReserved(RUNS_UP_TO) : null;
}

/**
 * Access tokens of orgs, minted by one at a time: callers in this process share an attempt, other processes wait for its
 * result in the row. A refusal marks the org, and the platform is not asked again before people renew or test the
 * credential; that of a production org for its sandbox is the answer for a minute.
 * @param callOrg for the production org of a sandbox.
 */
export function createOrgTokens(parts: OrgTokenParts, callOrg: CallOrg) {
  const { reads, encryption, now } = parts;
  const mint = createMinting(parts, callOrg);
  const attempts = new Map<string, Promise<Attempt>>();

  /** Executes an attempt, or joins the one of this process that began from the same state. */
  const attempt = (orgKey: OrgKey, state: TokenState): Promise<Attempt> => {
    const name = attemptName(orgKey, state);
    const running = attempts.get(name) ?? mint(orgKey, state).finally(() => attempts.delete(name));
    attempts.set(name, running);
    return running;
  };

  const storedToken = (orgKey: OrgKey, state: TokenState) => openStored(encryption, orgKey, state);

  const satisfies = (token: OrgToken, { maxAgeMs, refused }: TokenNeed): boolean =>
    token.accessToken !== refused && now().getTime() - token.mintedAt.getTime() < maxAgeMs;

  return {
    /** A token that satisfies a need: the stored one, or one that is minted now. */
    async of(orgKey: OrgKey, need: TokenNeed): Promise<CrmAnswer<OrgToken>> {
      const deadline = Date.now() + WAIT_MS;
      let awaited: number | undefined;
      for (;;) {
        need.signal?.throwIfAborted();
        const state = await tokenState(reads.as(actorOf(orgKey)), keyOf(orgKey));
        if (!state) return NOT_REGISTERED;
        const part = need.isRun ? RUNS_UP_TO : need.isBackground ? BACKGROUND_UP_TO : 1;
        if (part < 1 && isUsedUp(state, part, now())) return callsReserved(part);
        const refusal = need.isForced ? undefined : refusalOf(orgKey, state);
        if (refusal) return refusal;
        const token = storedToken(orgKey, state);
        if (token && satisfies(token, need)) return { isOk: true, value: token };
        const generation = state.generation ?? 0;
        if (state.failure && awaited !== undefined && generation > awaited) return state.failure;
        const isRunningHere = attempts.has(attemptName(orgKey, state));
        if (state.isLeased && !isRunningHere) {
          if (Date.now() > deadline) return STILL_MINTING;
          awaited ??= generation;
          await sleep(LOOK_EVERY_MS, undefined, { signal: need.signal });
          continue;
        }
        const answer = await attempt(orgKey, state);
        if (answer !== 'lost') return answer;
      }
    },

    /** The long-lived credential as stored; null for a sandbox before its first code was exchanged. */
    async credentialOf(orgKey: OrgKey): Promise<AuthUrl | null> {
      const state = await tokenState(reads.as(actorOf(orgKey)), keyOf(orgKey));
      return state?.tokenId && state.credential ? openCredential(encryption, state.tokenId, state.credential) : null;
    },
  };
}

const attemptName = (orgKey: OrgKey, { generation }: TokenState): string =>
  `${orgKey.tenantId} ${orgKey.orgId} ${keyOf(orgKey).reachedName} ${generation ?? 0}`;

/** Failures that are remembered when a production org was asked for a code. */
const IS_REMEMBERED = new Set<CrmFailureKind>(['refused', 'not_found']);

/** What the platform answered when it refused a credential or code; undefined while it may be asked. */
function refusalOf(orgKey: OrgKey, state: TokenState): CrmFailure | undefined {
  const { healthStatus, healthError, healthHint, failure: last, credential, isFailureRecent } = state;
  if (isRegistered(orgKey) && healthStatus === 'auth_failed') {
    const code = last?.kind === 'auth_failed' ? last.code : null;
    return crmFailure('auth_failed', code, healthError ?? NO_CREDENTIAL.message, healthHint ?? NO_CREDENTIAL.hint);
  }
  if (!last || !isFailureRecent || credential !== null || !isJustInTime(orgKey, state)) return undefined;
  return last.code !== null && IS_REMEMBERED.has(last.kind) ? last : undefined;
}

function isUsedUp({ apiCallsUsed, apiCallsMax, apiCallsAt }: TokenState, part: number, now: Date): boolean {
  if (apiCallsUsed === null || apiCallsMax === null || apiCallsAt === null) return false;
  const isKnown = now.getTime() - Date.parse(apiCallsAt) < USAGE_KNOWN_MS;
  return isKnown && apiCallsUsed > apiCallsMax * part;
}

/** The token that is stored for an org; undefined: there is none, or it is that of another auth URL. */
function openStored(encryption: Encryption, orgKey: OrgKey, state: TokenState): OrgToken | undefined {
  const { tokenId, credential, accessToken, instanceUrl, mintedAt, username, platformOrgId } = state;
  if (tokenId === null || accessToken === null || instanceUrl === null || mintedAt === null) return undefined;
  // The dev hub stores another auth URL now.
  if (orgKey.scratch && openSource(encryption, tokenId, credential) !== sourceOf(orgKey.scratch)) return undefined;
  return {
    accessToken: openAccessToken(encryption, tokenId, accessToken),
    instanceUrl,
    mintedAt: new Date(mintedAt),
    username,
    platformOrgId,
    credentialVersion: state.credentialVersion ?? 1,
    healthStatus: state.healthStatus,
  };
}

const openSource = (encryption: Encryption, tokenId: string, credential: string | null): string | undefined =>
  credential === null ? undefined : openCredential(encryption, tokenId, credential).source;
