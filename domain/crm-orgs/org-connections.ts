import type { Logger } from 'pino';
import type { AuthUrl } from '../crm/auth-url-rules.ts';
import type { ApiUsage, CrmAnswer, CrmCredential, CrmFailure, CrmOrg } from '../crm/crm-platform.port.ts';
import { failure as crmFailure } from '../crm/platform-error-rules.ts';
import { systemActor, type TenantKey } from '../shared/actor.ts';
import { type FoundOrg, type OrgRow, recordsOf } from './crm-orgs.queries.ts';
import { storeApiUsage } from './crm-tokens.queries.ts';
import { noteHealth } from './org-health.mutations.ts';
import { createOrgTokens, type OrgPlace, type OrgToken, type OrgTokenParts, type TokenNeed } from './org-tokens.ts';

/** How long a minted token is used inside; the platform's sessions last longer, and a 401 ends one early. */
const USED_FOR_MS = 55 * 60_000;
const USAGE_NOTED_EVERY_MS = 60_000;
const USAGES_KEPT = 10_000;

export interface CallOptions extends Pick<TokenNeed, 'isForced' | 'isBackground'> {
  /** Ends waiting and calls that are under way; then they throw. */
  signal?: AbortSignal | undefined;
}

/** How everybody in the service calls registered orgs: the routes in a request, and activities. Never inside a unit of work. */
export interface OrgConnections {
  /**
   * The calls of an org with its stored credential; calls nothing yet. The access token is used for 55 minutes; a 401 is
   * answered by one refresh and one repeat, by one process at a time. A refused credential marks the org (`auth_failed`,
   * announced once); then every call answers that failure without asking, until people renew or test the credential.
   * `isBackground`: answers `limited` while more than 95 % of the org's daily calls are used up.
   * `isForced`: asks although the credential was refused before.
   */
  callOrg: (place: OrgPlace, options?: CallOptions) => CrmOrg;
  /** An access token to hand out, minted at most so long ago. */
  tokenOf: (place: OrgPlace, need: TokenNeed) => Promise<CrmAnswer<OrgToken>>;
  /** The long-lived credential; of a sandbox from its cached refresh token, for which a code is exchanged when there is none. */
  credentialOf: (place: OrgPlace) => Promise<CrmAnswer<AuthUrl>>;
  /** The same without asking anybody: null for a sandbox that no code was exchanged for. */
  storedCredential: (place: OrgPlace) => Promise<AuthUrl | null>;
  /** The records of an org that was found at the platform, in the whole tenant: also those that a limited token does not see. */
  recordsOf: (tenant: TenantKey, found: FoundOrg) => Promise<OrgRow[]>;
  /** The calls of an org with a token at hand, which nothing renews. */
  callWith: (credential: CrmCredential, signal?: AbortSignal) => CrmOrg;
}

const NO_REFRESH_TOKEN = crmFailure(
  'refused',
  null,
  'The platform gives no refresh token for this org.',
  'Ask for an access token instead.',
);

export function createOrgConnections(parts: OrgTokenParts & { log: Logger }): OrgConnections {
  const { platform, actingAs, log } = parts;
  const tokens = createOrgTokens(parts, (place, options) => callOrg(place, options));
  const noteUsage = createUsageNotes(parts);

  const callOrg: OrgConnections['callOrg'] = (place, options = {}) => {
    const { signal } = options;
    const fromStore = new WeakSet<CrmFailure>();
    let credentialVersion: number | undefined;
    const give = async (refused?: string): Promise<CrmAnswer<CrmCredential>> => {
      const need = { ...options, maxAgeMs: USED_FOR_MS, ...(refused !== undefined && { refused }) };
      const answer = await tokens.of(place, need);
      if (answer.isOk) credentialVersion = answer.value.credentialVersion;
      else fromStore.add(answer);
      return answer;
    };
    const org = platform.org({
      credential: () => give(),
      renew: ({ accessToken }) => give(accessToken),
      onApiUsage: (usage) => noteUsage(place, usage),
      ...(signal && { signal }),
    });
    return watched(org, async (failure) => {
      // What the store refused is noted by it; a sandbox that is not registered has no health.
      if (fromStore.has(failure) || place.sandboxName !== undefined) return;
      await actingAs(systemActor(place, 'crm'))((tx) => noteHealth(tx, place.orgId, failure, credentialVersion)).catch(
        (error: unknown) => log.warn({ err: error }, 'a refused credential was not noted'),
      );
    });
  };

  return {
    callOrg,
    tokenOf: tokens.of,
    storedCredential: tokens.credentialOf,
    async credentialOf(place) {
      const stored = await tokens.credentialOf(place);
      if (stored) return { isOk: true, value: stored };
      const minted = await tokens.of(place, { maxAgeMs: 0 });
      if (!minted.isOk) return minted;
      const value = await tokens.credentialOf(place);
      return value ? { isOk: true, value } : NO_REFRESH_TOKEN;
    },
    recordsOf: (tenant, found) => recordsOf(parts.reads.as(systemActor(tenant, 'crm')), found),
    callWith: (credential, signal) =>
      platform.org({ credential: async () => ({ isOk: true, value: credential }), ...(signal && { signal }) }),
  };
}

/** The same calls; one that the org refuses with `auth_failed` is told of. */
function watched(org: CrmOrg, onRefused: (failure: CrmFailure) => Promise<void>): CrmOrg {
  const watch =
    <Arguments extends unknown[]>(call: (...given: Arguments) => Promise<CrmAnswer<unknown>>) =>
    async (...given: Arguments) => {
      const answer = await call(...given);
      if (!answer.isOk && answer.kind === 'auth_failed') await onRefused(answer);
      return answer;
    };
  const calls = Object.entries<(...given: never[]) => Promise<CrmAnswer<unknown>>>({ ...org });
  return Object.fromEntries(calls.map(([name, call]) => [name, watch(call)])) as unknown as CrmOrg;
}

/** Writes how many calls an org has counted, at most once a minute. */
function createUsageNotes({ actingAs, now, log }: OrgTokenParts & { log: Logger }) {
  const notedAt = new Map<string, number>();
  return (place: OrgPlace, usage: ApiUsage): void => {
    const key = `${place.orgId} ${place.sandboxName ?? ''}`;
    const time = now().getTime();
    if (time - (notedAt.get(key) ?? 0) < USAGE_NOTED_EVERY_MS) return;
    if (notedAt.size >= USAGES_KEPT) notedAt.clear();
    notedAt.set(key, time);
    actingAs(systemActor(place, 'crm'))((tx) =>
      storeApiUsage(tx, { orgId: place.orgId, sandboxName: place.sandboxName?.toLowerCase() ?? '' }, usage),
    ).catch((error: unknown) => log.warn({ err: error }, 'the usage of an org was not noted'));
  };
}
