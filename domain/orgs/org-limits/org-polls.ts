import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { CrmFailure } from '../crm/crm-platform.port.ts';
import { failure as crmFailure } from '../crm/platform-error-rules.ts';
import type { OrgConnections } from '../crm-orgs/tokens/org-connections.ts';
import { mayPass, persistently } from '../../kernel/data/database-trouble.ts';
import type { FencedReads } from '../../kernel/data/fenced-reads.ts';
import { type Actor, systemActor, type TenantKey } from '../../kernel/shared/actor.ts';
import { Slots } from '../../kernel/queues/slots.ts';
import type { UnitOfWork } from '../../unit-of-work.ts';
import type { PollFailure } from './org-limits.entities.ts';
import { type ClaimedOrg, claimNow, pollUnderWay, releaseNow } from './poll-claims.queries.ts';
import { type OrgPoll, recordPolls } from './polls.mutations.ts';

export interface OrgPollsParts {
  connections: Pick<OrgConnections, 'callOrg'>;
  reads: FencedReads;
  actingAs: (actor: Actor) => UnitOfWork;
  everyMs: number;
  now: () => Date;
  log: Logger;
}

/** Asks orgs for their limits; made once per process. */
export interface OrgPolls {
  /** From one poll of an org to the next. */
  everyMs: number;
  /**
   * What an org that was claimed answers now; `cut off` when `stop` ended the call. Outside any unit of work. Throws when
   * the database is away; an org that cannot be asked for another reason has failed.
   */
  ask: (tenant: TenantKey, org: ClaimedOrg, stop?: AbortSignal) => Promise<OrgPoll | 'cut off'>;
  /** A poll that cannot be stored keeps no other from it, and has failed. @returns as they were stored, those whose claims held. */
  record: (tenant: TenantKey, polls: readonly OrgPoll[]) => Promise<OrgPoll[]>;
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

const OVERTAKEN: PollFailure = {
  kind: 'refused',
  message: 'Another poll of the org took over while it was asked.',
  hint: 'Try again in a minute.',
};
/** Forced polls under way in this process, of all tenants and of one. */
const FORCED_MAX = 64;
const FORCED_PER_TENANT_MAX = 16;
const TOO_MANY: PollFailure = {
  kind: 'limited',
  message: 'Too many orgs are being polled on request.',
  hint: 'Try again in a minute; all orgs are polled regularly without a request.',
};
// Its kind says nothing of the health of the org.
const NOT_ASKED = crmFailure(
  'refused',
  null,
  'The service could not ask the org: its log says why.',
  'Show this to whoever runs the service.',
);
const NOT_STORED = crmFailure(
  'refused',
  null,
  'What the org answered could not be stored: the log of the service says why.',
  'Show this to whoever runs the service.',
);

export function createOrgPolls(parts: OrgPollsParts): OrgPolls {
  const { reads, actingAs, everyMs, log } = parts;
  const unitOf = (tenant: TenantKey) => actingAs(systemActor(tenant, 'org-limits'));
  const slots = new Slots({ works: 'polls', total: FORCED_MAX, perHolder: FORCED_PER_TENANT_MAX });

  const ask = asking(parts);

  const record = recording(parts);

  /** Waits for the poll of another process. */
  const awaited = async (tenant: TenantKey, orgId: string): Promise<PollFailure | undefined> => {
    for (const deadline = Date.now() + WAIT_MS; Date.now() < deadline; await sleep(LOOK_EVERY_MS)) {
      const state = await pollUnderWay(reads.as(systemActor(tenant, 'org-limits')), orgId);
      if (!state?.isLeased) return state?.failure ?? undefined;
    }
    return UNDER_WAY;
  };

  const poll = async (tenant: TenantKey, claimed: ClaimedOrg): Promise<PollFailure | undefined> => {
    try {
      const polled = await ask(tenant, claimed);
      if (polled === 'cut off') return UNDER_WAY;
      const [stored] = await record(tenant, [polled]);
      if (!stored) return OVERTAKEN;
      return stored.answer.isOk ? undefined : stored.answer;
    } catch (error) {
      await persistently(() => unitOf(tenant)((tx) => releaseNow(tx, claimed))).catch((failure: unknown) =>
        log.warn({ err: failure, orgId: claimed.orgId }, 'the claim of a forced poll was not released'),
      );
      throw error;
    }
  };

  return {
    everyMs,
    ask,
    record,
    async pollNow(tenant, orgId) {
      const free = slots.take(tenant.tenantId);
      if (!free) return TOO_MANY;
      try {
        const claimed = await unitOf(tenant)((tx) => claimNow(tx, orgId));
        if (claimed) return await poll(tenant, claimed);
      } finally {
        free();
      }
      return awaited(tenant, orgId);
    },
  };
}

const asking =
  ({ connections, now, log }: OrgPollsParts): OrgPolls['ask'] =>
  async ({ tenantId, tenantSlug }, { orgId, claim }, stop) => {
    const limit = AbortSignal.timeout(ASK_TIMEOUT_MS);
    const signal = stop ? AbortSignal.any([stop, limit]) : limit;
    const failed = (answer: CrmFailure): OrgPoll => ({ orgId, claim, at: now(), answer });
    try {
      const answer = await connections.callOrg({ tenantId, tenantSlug, orgId }, { signal }).limits();
      return { orgId, claim, at: now(), answer };
    } catch (error) {
      if (stop?.aborted) return 'cut off';
      if (limit.aborted) {
        const message = `The org did not answer within ${ASK_TIMEOUT_MS / 1_000} s.`;
        return failed(crmFailure('timeout', null, message, 'Try again later.'));
      }
      if (mayPass(error)) throw error;
      log.error({ err: error, orgId }, 'an org could not be asked for its limits');
      return failed(NOT_ASKED);
    }
  };

const recording =
  ({ actingAs, everyMs, log }: OrgPollsParts): OrgPolls['record'] =>
  async (tenant, polls) => {
    const unit = actingAs(systemActor(tenant, 'org-limits'));
    const write = async (some: readonly OrgPoll[]) => {
      const recorded = await persistently(() => unit((tx) => recordPolls(tx, some, everyMs)));
      return some.filter(({ orgId }) => recorded.includes(orgId));
    };
    const writeOne = (poll: OrgPoll) =>
      write([poll]).catch((error: unknown) => {
        if (mayPass(error)) throw error;
        log.error({ err: error, orgId: poll.orgId }, 'what an org answered could not be stored');
        return write([{ ...poll, answer: NOT_STORED }]);
      });
    try {
      return await write(polls);
    } catch (error) {
      if (mayPass(error)) throw error;
      const recorded: OrgPoll[] = [];
      for (const poll of polls) recorded.push(...(await writeOne(poll)));
      return recorded;
    }
  };
