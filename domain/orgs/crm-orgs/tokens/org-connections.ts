import { LRUCache } from 'lru-cache';
import type { AuthUrl } from '../../crm/auth-url-rules.ts';
import type { ApiUsage, CrmAnswer, CrmCredential, CrmFailure, CrmOrg } from '../../crm/crm-platform.port.ts';
import { failure as crmFailure } from '../../crm/platform-error-rules.ts';
import type { TenantKey } from '../../../kernel/shared/actor.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { nameSandbox, type SandboxOf } from '../crm-orgs.mutations.ts';
import { type FoundOrg, type OrgRow, recordsOf } from '../crm-orgs.queries.ts';
import { storeApiUsage } from './crm-tokens.queries.ts';
import { learntHealth, type OrgHealthStatus } from '../org-health-rules.ts';
import { followHealth, noteHealth } from '../org-health.mutations.ts';
import { actorOf, isRegistered, keyOf, type OrgKey } from '../org-keys.ts';
import { createRevocation } from './org-revocation.ts';
import { createOrgTokens, type OrgToken, type OrgTokenParts, type TokenNeed } from './org-tokens.ts';

/** How long a minted token is used inside; the platform's sessions last longer, and a 401 ends one early. */
const USED_FOR_MS = 55 * 60_000;
const USAGE_NOTED_EVERY_MS = 60_000;
const USAGES_KEPT = 10_000;

export interface CallOptions extends Pick<TokenNeed, 'isForced' | 'isBackground' | 'isRun'> {
  /** Ends waiting and calls that are under way; then they throw. */
  signal?: AbortSignal | undefined;
}

/** The calls of an org with its stored credential. */
export type CallOrg = (orgKey: OrgKey, options?: CallOptions) => CrmOrg;

/** How everybody in the service calls registered orgs: the routes in a request, and activities. Never inside a unit of work. */
export interface OrgConnections {
  /**
   * The calls of an org with its stored credential; calls nothing yet. The access token is used for 55 minutes; a 401 is
   * answered by one refresh and one repeat, by one process at a time. A refused credential marks the org (`auth_failed`,
   * announced once); then every call answers that failure without asking, until people renew or test the credential.
   * `isBackground`: answers `limited` while more than 95 % of the org's daily calls are used up, `isRun` from 90 %.
   * `isForced`: asks although the credential was refused before.
   */
  callOrg: CallOrg;
  /** An access token to hand out, minted at most so long ago. */
  tokenOf: (orgKey: OrgKey, need: TokenNeed) => Promise<CrmAnswer<OrgToken>>;
  /** The long-lived credential; of a sandbox from its cached refresh token, for which a code is exchanged when there is none. */
  credentialOf: (orgKey: OrgKey) => Promise<CrmAnswer<AuthUrl>>;
  /** Revokes what the service holds of an org that is removed next: its credential, and those of its sandboxes without a record. */
  revoke: (orgKey: OrgKey) => Promise<CrmAnswer<null>>;
  /** The records of an org that was found at the platform, in the whole tenant: also those that a limited token does not see. */
  recordsOf: (tenant: TenantKey, found: FoundOrg) => Promise<OrgRow[]>;
  /** Notes that a registered org was found to be a sandbox of another one. */
  nameSandbox: (tenant: TenantKey, orgId: string, sandbox: SandboxOf) => Promise<void>;
  /** The calls of an org with a token at hand, which nothing renews. */
  callWith: (credential: CrmCredential, signal?: AbortSignal) => CrmOrg;
}

const NO_REFRESH_TOKEN = crmFailure(
  'refused',
  null,
  'The platform gives no refresh token for this org.',
  'Ask for an access token instead.',
);

export function createOrgConnections(parts: OrgTokenParts): OrgConnections {
  const { platform, actingAs, log } = parts;
  const tokens = createOrgTokens(parts, (orgKey, options) => callOrg(orgKey, options));
  const noteUsage = createUsageNotes(parts);

  const callOrg: CallOrg = (orgKey, options = {}) => {
    const { signal } = options;
    const fromStore = new WeakSet<CrmFailure>();
    let used: Pick<OrgToken, 'credentialVersion' | 'healthStatus'> | undefined;
    const give = async (refused?: string): Promise<CrmAnswer<CrmCredential>> => {
      const need = { ...options, maxAgeMs: USED_FOR_MS, ...(refused !== undefined && { refused }) };
      const answer = await tokens.of(orgKey, need);
      if (answer.isOk) used = answer.value;
      else fromStore.add(answer);
      return answer;
    };
    const org = platform.org({
      credential: () => give(),
      renew: ({ accessToken }) => give(accessToken),
      onApiUsage: (usage) => noteUsage(orgKey, usage),
      ...(signal && { signal }),
    });
    return watched(org, async (failure) => {
      // What the store answered is noted by it; an org that is not registered has no health.
      if (!used || !isRegistered(orgKey) || (failure && fromStore.has(failure))) return;
      const { credentialVersion, healthStatus } = used;
      const note = healthNote(orgKey.orgId, failure, credentialVersion, healthStatus);
      if (!note) return;
      await actingAs(actorOf(orgKey))(note).catch((error: unknown) =>
        log.warn({ err: error }, 'the health of an org was not noted'),
      );
    });
  };

  return {
    callOrg,
    tokenOf: tokens.of,
    revoke: createRevocation(parts),
    async credentialOf(orgKey) {
      const stored = await tokens.credentialOf(orgKey);
      if (stored) return { isOk: true, value: stored };
      const minted = await tokens.of(orgKey, { maxAgeMs: 0 });
      if (!minted.isOk) return minted;
      const value = await tokens.credentialOf(orgKey);
      return value ? { isOk: true, value } : NO_REFRESH_TOKEN;
    },
    recordsOf: (tenant, found) => recordsOf(parts.reads.as(actorOf(tenant)), found),
    nameSandbox: (tenant, orgId, sandbox) => actingAs(actorOf(tenant))((tx) => nameSandbox(tx, orgId, sandbox)),
    callWith: (credential, signal) =>
      platform.org({ credential: async () => ({ isOk: true, value: credential }), ...(signal && { signal }) }),
  };
}

/** What is written of an org after a call; undefined when the call says nothing new. */
function healthNote(
  orgId: string,
  failure: CrmFailure | undefined,
  credentialVersion: number,
  before: OrgHealthStatus,
): ((tx: Tx) => Promise<void>) | undefined {
  if (failure?.kind === 'auth_failed') return (tx) => noteHealth(tx, orgId, failure, credentialVersion);
  const after = learntHealth(failure);
  const isNew = after !== undefined && after !== before && before !== 'auth_failed';
  return isNew ? (tx) => followHealth(tx, orgId, failure) : undefined;
}

/** The calls of an org, each reported to `onAnswer` with its failure or without one. */
function watched(org: CrmOrg, onAnswer: (failure: CrmFailure | undefined) => Promise<void>): CrmOrg {
  const watch =
    <Arguments extends unknown[]>(call: (...given: Arguments) => Promise<CrmAnswer<unknown>>) =>
    async (...given: Arguments) => {
      const answer = await call(...given);
      await onAnswer(answer.isOk ? undefined : answer);
      return answer;
    };
  const calls = Object.entries<(...given: never[]) => Promise<CrmAnswer<unknown>>>({ ...org });
  return Object.fromEntries(calls.map(([name, call]) => [name, watch(call)])) as unknown as CrmOrg;
}

/** Writes how many calls an org has counted, at most once a minute. */
function createUsageNotes({ actingAs, now, log }: OrgTokenParts) {
  const notedAt = new LRUCache<string, number>({ max: USAGES_KEPT });
  return (orgKey: OrgKey, usage: ApiUsage): void => {
    const key = `${orgKey.orgId} ${keyOf(orgKey).reachedName}`;
    const time = now().getTime();
    if (time - (notedAt.get(key) ?? 0) < USAGE_NOTED_EVERY_MS) return;
    notedAt.set(key, time);
    actingAs(actorOf(orgKey))((tx) => storeApiUsage(tx, keyOf(orgKey), usage)).catch((error: unknown) =>
      log.warn({ err: error }, 'the usage of an org was not noted'),
    );
  };
}
