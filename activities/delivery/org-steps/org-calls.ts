import type { CrmFailure, CrmOrg } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { failureText } from '../../../domain/orgs/crm-orgs/tokens/org-failure-rules.ts';
import { whyNoCallsOfRuns } from '../../../domain/orgs/crm-orgs/tokens/org-tokens.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { goOnInOrg } from '../../../domain/delivery/flows/run-waits.mutations.ts';
import { stepsOfRun } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { atWorkSince } from '../../../domain/delivery/org-steps/org-turns.queries.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import type { Deps } from '../../deps.ts';
import type { Pending } from '../flows/operations.activities.ts';
import { OrgCallFailed } from './org-call-failed.ts';

/** What a run does in an org is given up where nothing has moved for so long: its org is away, or takes no calls. */
const GIVEN_UP_AFTER_MS = 24 * 3_600_000;

/** Codes of an org that takes no more calls of the day, or leaves the rest of them to people; sign-ins are limited otherwise. */
const USED_UP: ReadonlySet<string | null> = new Set(['DAILY_CALLS_RESERVED', 'REQUEST_LIMIT_EXCEEDED', 'HTTP_429']);

export const isUsedUp = ({ kind, code }: CrmFailure): boolean => kind === 'limited' && USED_UP.has(code);

/** How a run stands in its org. */
export interface Stand {
  /** The org does, or may do, what the run asked for. */
  goesOn: boolean;
  /** Nothing has moved for too long. */
  isGivenUp: boolean;
  givenUpAt: Date;
}

export async function standOf({ reads, now }: Deps, tenant: TenantKey, run: RunContext): Promise<Stand> {
  const own = reads.as(systemActor(tenant, 'flow'));
  const steps = await stepsOfRun(own, run.id);
  // What is only asked for again and again does not count.
  const moved = steps.filter(({ state }) => state !== 'planned' && state !== 'asked');
  const began = await atWorkSince(own, run);
  const times = [...(began === undefined ? [] : [began]), ...moved.map(({ updatedAt }) => Date.parse(updatedAt))];
  const last = times.length === 0 ? now().getTime() : Math.max(...times);
  return {
    goesOn: steps.some(({ state }) => state === 'begun' || state === 'asked'),
    isGivenUp: now().getTime() - last > GIVEN_UP_AFTER_MS,
    givenUpAt: new Date(last + GIVEN_UP_AFTER_MS),
  };
}

/** What becomes of a run whose org has no calls left for it: it waits, and ends where nothing has moved for a day. */
export function waitForCalls(
  username: string,
  failure: CrmFailure,
  { isGivenUp, givenUpAt }: Stand,
): RunOutcome | Pending {
  if (isGivenUp)
    return {
      status: 'timed_out',
      error: failureText(`Nothing moved in org ${username} for 24 hours, and it has no calls left for runs`, failure),
    };
  const reason = `${failureText(`Org ${username}`, failure)} The limit counts the last 24 hours, so nobody knows when calls are free again: the run looks every 5 minutes, and times out at ${givenUpAt.toISOString()} if nothing moves until then.`;
  return { againInSeconds: 300, text: failureText(`Waiting for calls of org ${username}`, failure), orgCalls: reason };
}

/**
 * Lets a run go on that waited for calls of its org; throws while there are none. False: its org does not say whether there
 * are any, and the run waits until a call went through.
 */
export async function goOnWithCalls(deps: Deps, tenant: TenantKey, run: RunContext, calls: CrmOrg): Promise<boolean> {
  const limits = await calls.limits();
  const failure = limits.isOk ? whyNoCallsOfRuns(limits.value) : limits;
  if (failure && isUsedUp(failure)) throw new OrgCallFailed(failure);
  // A user who may not read limits learns it from the next call: until then the run would go on and wait by turns.
  if (!limits.isOk) return false;
  await goOn(deps, tenant, run);
  return true;
}

/** Shows that a run goes on which waited for calls of its org. */
export const goOn = ({ actingAs }: Deps, tenant: TenantKey, { id }: RunContext): Promise<void> =>
  actingAs(systemActor(tenant, 'flow'))((tx) => goOnInOrg(tx, id));
