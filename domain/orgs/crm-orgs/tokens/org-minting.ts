import type { CrmAnswer } from '../../crm/crm-platform.port.ts';
import { persistently } from '../../../kernel/data/database-trouble.ts';
import { sealAccessToken, sealCredential } from './crm-secrets.ts';
import { storeFailure, storeToken, type TokenState } from './crm-tokens.queries.ts';
import { freeLease, holdLease, type Lease, takeLease } from './token-leases.queries.ts';
import { createOrgGrants, type Minted, type Refused } from './org-grants.ts';
import { learntHealth } from '../org-health-rules.ts';
import { followHealth, lockedOrg, noteHealth, noteMoved } from '../org-health.mutations.ts';
import type { CallOrg } from './org-connections.ts';
import { actorOf, isRegistered, keyOf, type OrgKey } from '../org-keys.ts';
import type { OrgToken, OrgTokenParts } from './org-tokens.ts';

/** The end of an attempt; `lost`: somebody else has the lease, or the credential was replaced. */
export type Attempt = CrmAnswer<OrgToken> | 'lost';

/** Shorter in tests. */
export interface MintingTimes {
  /** Longer than one call to the platform; it is renewed while its holder lives. */
  leaseMs: number;
  /** Pauses before the row is tried again while callers wait; absent: those of any short outage of the database. */
  storePausesMs?: readonly number[];
  /** Then those before a refresh token that replaced the stored one is given up: it exists nowhere else. */
  rescuePausesMs: readonly number[];
}

const TIMES: MintingTimes = {
  leaseMs: 30_000,
  rescuePausesMs: Array<number>(300).fill(2_000),
};

/**
 * One attempt to mint a token: takes the lease in the token's row, asks the platform outside any transaction, and ends
 * with a token or a failure in the row.
 */
export function createMinting(parts: OrgTokenParts, callOrg: CallOrg) {
  const { actingAs } = parts;
  const times = { ...TIMES, ...parts.times };
  const { leaseMs } = times;
  const obtain = createOrgGrants(parts, callOrg);
  const keep = keeping(parts, times);

  return async (orgKey: OrgKey, state: TokenState): Promise<Attempt> => {
    const unit = actingAs(actorOf(orgKey));
    const lease = await unit((tx) => takeLease(tx, keyOf(orgKey), state.generation ?? 0, leaseMs));
    if (!lease) return 'lost';
    const hold = () => unit((tx) => holdLease(tx, lease, leaseMs));
    const heartbeat = setInterval(() => void hold().catch(() => undefined), leaseMs / 3);
    try {
      const obtained = await obtain(orgKey, state, lease, hold).catch(async (error: unknown) => {
        await unit((tx) => freeLease(tx, lease)).catch(() => undefined);
        throw error;
      });
      return obtained === 'lost' ? obtained : await keep(orgKey, state, lease, obtained);
    } finally {
      clearInterval(heartbeat);
    }
  };
}

/** Keeps what an attempt ended with in the row of the token, unless somebody else has the lease. */
function keeping(parts: OrgTokenParts, { storePausesMs, rescuePausesMs }: MintingTimes) {
  const { now, log } = parts;

  /** Goes on in the background where a token would be lost that exists nowhere else. */
  async function keep(orgKey: OrgKey, state: TokenState, lease: Lease, obtained: Minted | Refused): Promise<Attempt> {
    const mintedAt = now();
    const store = () =>
      obtained.isOk
        ? keepToken(parts, orgKey, state, lease, obtained, mintedAt)
        : keepFailure(parts, orgKey, state, lease, obtained);
    const kept = persistently(store, storePausesMs);
    if (obtained.isOk && obtained.minted.refreshToken !== null)
      void kept.catch(async (error: unknown) => {
        const org = { orgId: orgKey.orgId, reached: keyOf(orgKey).reachedName };
        log.warn({ err: error, ...org }, 'a refresh token that replaced the stored one is not stored yet');
        await persistently(store, rescuePausesMs).catch((last: unknown) =>
          log.error(
            { err: last, ...org },
            'a refresh token was lost: if the org refuses the old one, register it again',
          ),
        );
      });
    return kept;
  }

  return keep;
}

async function keepToken(
  { encryption, actingAs }: OrgTokenParts,
  orgKey: OrgKey,
  state: TokenState,
  lease: Lease,
  { minted, credential, username }: Minted,
  mintedAt: Date,
): Promise<Attempt> {
  const { accessToken, instanceUrl, orgId: platformOrgId } = minted;
  const isOwn = isRegistered(orgKey);
  const moved = {
    instanceUrl: state.instanceUrl === instanceUrl ? undefined : instanceUrl,
    platformOrgId: state.platformOrgId === platformOrgId ? null : platformOrgId,
  };
  const isMoved = moved.instanceUrl !== undefined || moved.platformOrgId !== null;
  const store = (isLate: boolean) =>
    actingAs(actorOf(orgKey))(async (tx) => {
      if (isOwn && (isMoved || isLate)) await lockedOrg(tx, orgKey.orgId);
      const token = {
        accessToken: sealAccessToken(encryption, lease.tokenId, accessToken),
        credential: credential && sealCredential(encryption, lease.tokenId, credential),
        instanceUrl,
        mintedAt,
        ...(platformOrgId !== null && { platformOrgId }),
        ...(username !== null && { username }),
      };
      const row = await storeToken(tx, lease, token, { isLate });
      if (row && isOwn && isMoved) await noteMoved(tx, orgKey.orgId, moved);
      // Another process may have tried the void credential meanwhile, and marked the org.
      if (row && isOwn && isLate) await noteHealth(tx, orgKey.orgId, undefined);
      return row;
    });
  const stored = (await store(false)) ?? (minted.refreshToken === null ? undefined : await store(true));
  if (!stored) return 'lost';
  const { healthStatus } = state;
  return { isOk: true, value: { ...stored, accessToken, instanceUrl, mintedAt, healthStatus } };
}

async function keepFailure(
  { actingAs }: OrgTokenParts,
  orgKey: OrgKey,
  { healthStatus }: TokenState,
  lease: Lease,
  { failure, isOwn, isCacheDead = false }: Refused,
): Promise<Attempt> {
  const isRefused = isOwn && failure.kind === 'auth_failed';
  const isMarked = isRefused && isRegistered(orgKey);
  const learnt = isOwn && isRegistered(orgKey) ? learntHealth(failure) : undefined;
  const isChanged = learnt !== undefined && learnt !== healthStatus;
  const isStored = await actingAs(actorOf(orgKey))(async (tx) => {
    if (isMarked || isChanged) await lockedOrg(tx, orgKey.orgId);
    const dead = { accessToken: isRefused || isCacheDead, credential: isCacheDead };
    const stored = await storeFailure(tx, lease, failure, dead);
    if (stored && isMarked) await noteHealth(tx, orgKey.orgId, failure);
    if (stored && isChanged) await followHealth(tx, orgKey.orgId, failure);
    return stored;
  });
  return isStored ? failure : 'lost';
}
