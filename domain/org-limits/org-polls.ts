import { setTimeout as sleep } from 'node:timers/promises';
import type { OrgConnections } from '../crm-orgs/org-connections.ts';
import type { FencedReads } from '../data/fenced-reads.ts';
import { type Actor, systemActor, type TenantKey } from '../shared/actor.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import type { PollFailure } from './org-limits.entities.ts';
import { type ClaimedOrg, claimNow, pollUnderWay } from './poll-store.queries.ts';
import { type OrgPoll, recordPolls } from './polls.mutations.ts';

export interface OrgPollsParts {
  connections: OrgConnections;
  reads: FencedReads;
  actingAs: (actor: Actor) => UnitOfWork;
  everyMs: number;
  now: () => Date;
}

/** Asks orgs for their limits; made once per process. */
export interface OrgPolls {
  /** From one poll of an org to the next. */
  everyMs: number;
  /** What an org that was claimed answers now; `cut off` when `stop` ended the call. Outside any unit of work. */
  ask: (tenant: TenantKey, org: ClaimedOrg, stop?: AbortSignal) => Promise<OrgPoll | 'cut off'>;
  record: (tenant: TenantKey, polls: readonly OrgPoll[]) => Promise<void>;
  /**
   * Polls an org for somebody who waits, at most once a minute, and waits for a poll that is under way. Answers why it
   * failed; undefined when it did not, or the last one is less than a minute old.
   */
  pollNow: (tenant: TenantKey, orgId: string) => Promise<PollFailure | undefined>;
}

/** Token, version and limits are calls of 20 s each; shorter than the lease. */
const ASK_TIMEOUT_MS = 75_000;
const WAIT_MS = 25_000;
const LOOK_EVERY_MS = 100;
const UNDER_WAY: PollFailure = {
  kind: 'timeout',
  message: 'A poll of the org is under way and has not ended in time.',
  hint: 'Try again in a minute.',
};

export function createOrgPolls({ connections, reads, actingAs, everyMs, now }: OrgPollsParts): OrgPolls {
  const actorOf = (tenant: TenantKey) => systemActor(tenant, 'org-limits');

  const ask: OrgPolls['ask'] = async ({ tenantId, tenantSlug }, { orgId, claim }, stop) => {
    const limit = AbortSignal.timeout(ASK_TIMEOUT_MS);
    const signal = stop ? AbortSignal.any([stop, limit]) : limit;
    try {
      const answer = await connections.callOrg({ tenantId, tenantSlug, orgId }, { signal }).limits();
      return { orgId, claim, at: now(), answer };
    } catch (error) {
      if (stop?.aborted) return 'cut off';
      if (!limit.aborted) throw error;
      const message = `The org did not answer within ${ASK_TIMEOUT_MS / 1_000} s.`;
      const failure = { kind: 'timeout', code: null, message, hint: 'Try again later.' } as const;
      return { orgId, claim, at: now(), answer: { isOk: false, ...failure } };
    }
  };

  const record: OrgPolls['record'] = (tenant, polls) =>
    actingAs(actorOf(tenant))((tx) => recordPolls(tx, polls, everyMs));

  /** Waits for the poll of another process. */
  const awaited = async (tenant: TenantKey, orgId: string): Promise<PollFailure | undefined> => {
    for (const deadline = Date.now() + WAIT_MS; Date.now() < deadline; await sleep(LOOK_EVERY_MS)) {
      const state = await pollUnderWay(reads.as(actorOf(tenant)), orgId);
      if (!state?.isLeased) return state?.failure ?? undefined;
    }
    return UNDER_WAY;
  };

  return {
    everyMs,
    ask,
    record,
    async pollNow(tenant, orgId) {
      const claimed = await actingAs(actorOf(tenant))((tx) => claimNow(tx, orgId));
      if (!claimed) return awaited(tenant, orgId);
      const poll = await ask(tenant, claimed);
      if (poll === 'cut off') return UNDER_WAY;
      await record(tenant, [poll]);
      return poll.answer.isOk ? undefined : poll.answer;
    },
  };
}
