import type { OrgPolls } from '../../../domain/orgs/org-limits/org-polls.ts';
import type { ClaimedOrg, PollClaims } from '../../../domain/orgs/org-limits/poll-claims.queries.ts';
import type { OrgPoll } from '../../../domain/orgs/org-limits/polls.mutations.ts';
import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { batched } from '../../../domain/kernel/queues/batched.ts';
import { Slots } from '../../../domain/kernel/queues/slots.ts';
import type { PumpReport } from '../../../workflows/orgs/org-limits/org-limits.contract.ts';
import { pumpRows } from '../../row-pump.ts';

/** Most orgs that this process asks at a time, and of one tenant: a tenant whose orgs hang holds up no other. */
const OPEN_MAX = 64;
const OPEN_PER_TENANT = 16;
/** Most orgs that a pump holds, those included that wait for a slot. */
const HELD_MAX = 32;
const WAIT_MAX_MS = 60_000;
/** Nobody waits for a record, and one of ten polls costs little more than one of one. */
const RECORD_REST_MS = 10;
const RECORD_MAX_REST_MS = 100;

export interface PollPumpParts {
  store: Pick<PollClaims, 'claim' | 'release'>;
  polls: Pick<OrgPolls, 'ask' | 'record'>;
}

/** Asks the orgs of a tenant that are due for their limits, until none is due or `stop`. */
export type PumpOrgs = (tenant: TenantKey, stop: AbortSignal) => Promise<PumpReport>;

/** @returns a pump for all tenants, which share the slots of the process. */
export function createPollPump({ store, polls }: PollPumpParts): PumpOrgs {
  const open = new Slots({ works: 'polls', total: OPEN_MAX, perHolder: OPEN_PER_TENANT });
  return async (tenant, stop) => {
    const report = { polled: 0, failed: 0 };
    const record = batched(
      async (some: OrgPoll[]): Promise<void[]> => {
        await polls.record(tenant, some);
        return some.map(() => undefined);
      },
      { restMs: RECORD_REST_MS, maxRestMs: RECORD_MAX_REST_MS },
    );
    const nextDueInMs = await pumpRows<ClaimedOrg, OrgPoll>(
      {
        claim: (limit) => store.claim(tenant, limit),
        inSlot: (work) => open.run(tenant.tenantId, work),
        handle: (org, cut) => polls.ask(tenant, org, cut),
        async note(poll) {
          await record(poll);
          if (poll.answer.isOk) report.polled++;
          else report.failed++;
        },
        release: (orgs) => store.release(tenant, orgs),
        nextDueInMs: () => Promise.resolve(undefined),
        heldMax: HELD_MAX,
        refillAt: HELD_MAX / 2,
        waitMaxMs: WAIT_MAX_MS,
      },
      stop,
    );
    return { ...report, isMoreDue: nextDueInMs !== null };
  };
}
