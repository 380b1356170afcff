import { setTimeout as sleep } from 'node:timers/promises';
import type { CrmAnswer } from '../../crm/crm-platform.port.ts';
import { openCredential } from './crm-secrets.ts';
import { ownTokens, tokenState, type TokenKey } from './crm-tokens.queries.ts';
import { freeLease, type Lease, takeLease } from './token-leases.queries.ts';
import { actorOf, type OrgKey } from '../org-keys.ts';
import { type OrgTokenParts, STILL_MINTING } from './org-tokens.ts';

const LEASE_MS = 60_000;
const WAIT_MS = 40_000;
const LOOK_EVERY_MS = 40;

/**
 * Revokes at the platform what the service holds of an org that is removed next: its own credential, and those of its
 * sandboxes without a record, for which the service exchanged codes. Auth URLs of scratch orgs belong to their dev hub.
 * Each is revoked under the lease of its row, which stays, so that no refresh brings another one meanwhile.
 */
export function createRevocation({ platform, reads, actingAs, encryption }: OrgTokenParts) {
  async function leaseOf(orgKey: OrgKey, key: TokenKey): Promise<Lease | 'busy' | 'none'> {
    for (const deadline = Date.now() + WAIT_MS; Date.now() < deadline; await sleep(LOOK_EVERY_MS)) {
      const state = await tokenState(reads.as(actorOf(orgKey)), key);
      if (!state?.tokenId) return 'none';
      if (state.isLeased) continue;
      const lease = await actingAs(actorOf(orgKey))((tx) => takeLease(tx, key, state.generation ?? 0, LEASE_MS));
      if (lease) return lease;
    }
    return 'busy';
  }

  async function revoke(orgKey: OrgKey, key: TokenKey, leases: Lease[]): Promise<CrmAnswer<null>> {
    const lease = await leaseOf(orgKey, key);
    if (lease === 'none') return { isOk: true, value: null };
    if (lease === 'busy') return STILL_MINTING;
    leases.push(lease);
    if (lease.credential === null) return { isOk: true, value: null };
    const { loginUrl, refreshToken: token } = openCredential(encryption, lease.tokenId, lease.credential);
    return platform.revoke({ loginUrl, token });
  }

  return async (orgKey: OrgKey): Promise<CrmAnswer<null>> => {
    const leases: Lease[] = [];
    for (const key of await ownTokens(reads.as(actorOf(orgKey)), orgKey.orgId)) {
      const answer = await revoke(orgKey, key, leases);
      if (answer.isOk) continue;
      await actingAs(actorOf(orgKey))(async (tx) => {
        for (const lease of leases) await freeLease(tx, lease);
      });
      const { reachedName } = key;
      return reachedName === '' ? answer : { ...answer, message: `Its sandbox ${reachedName}: ${answer.message}` };
    }
    return { isOk: true, value: null };
  };
}
