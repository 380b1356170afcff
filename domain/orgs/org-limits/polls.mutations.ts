import type { CrmAnswer, PlatformLimit } from '../crm/crm-platform.port.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { FORECAST_FROM_MS } from './forecast-rules.ts';
import { limitSettingsOf, usagePct } from './limit-level-rules.ts';
import { type LimitChange, type LimitState, limitsAfter, shownLimit, worstOf } from './limit-state-rules.ts';
import { nextPollAt, retryPollAt } from './poll-schedule-rules.ts';
import { type StoredPoll, storePolls, usedSince } from './limit-samples.queries.ts';
import { limitSettingsByOrg } from './org-limits.queries.ts';
import { type ClaimedOrg, claimedStates } from './poll-claims.queries.ts';

/** What an org answered. */
export interface OrgPoll extends ClaimedOrg {
  at: Date;
  answer: CrmAnswer<PlatformLimit[]>;
}

const HUNDREDTHS_MAX = 2_147_483_647;

/**
 * Records polls with the alerts that they raise; those whose claim was lost come to nothing.
 * @returns ids of the orgs whose polls were recorded.
 */
export async function recordPolls(tx: Tx, polls: readonly OrgPoll[], everyMs: number): Promise<string[]> {
  const states = await claimedStates(tx, polls);
  if (states.length === 0) return [];
  const byOrg = new Map(polls.map((poll) => [poll.orgId, poll]));
  const answered = states.filter(({ orgId }) => byOrg.get(orgId)?.answer.isOk);
  const since = new Date(Math.min(...polls.map(({ at }) => at.getTime())) - FORECAST_FROM_MS);
  const settings = await limitSettingsByOrg(
    tx,
    answered.map(({ username }) => username),
  );
  const historyOf = await usedSince(
    tx,
    answered.map(({ orgId }) => orgId),
    since,
  );
  const stored = states.flatMap(({ orgId, username, failures, limits: known }): StoredPoll[] => {
    const poll = byOrg.get(orgId);
    if (!poll) return [];
    const { claim, at, answer } = poll;
    if (!answer.isOk) {
      const { kind, message, hint } = answer;
      const dueAt = new Date(retryPollAt(kind, failures + 1, at.getTime(), everyMs));
      return [{ orgId, claim, at, dueAt, failures: failures + 1, failure: { kind, message, hint } }];
    }
    const projects = settings.get(username.toLowerCase())?.map(({ orgLimits }) => limitSettingsOf(orgLimits)) ?? [];
    const { limits, changes } = limitsAfter(known, answer.value, projects, at.getTime(), historyOf(orgId));
    if (changes.length > 0) announce(tx, { id: orgId, username }, changes);
    const found = { limits, worst: worstOf(limits), peaks: limits.map(peakOf) };
    const dueAt = new Date(nextPollAt(orgId, at.getTime(), everyMs));
    return [{ orgId, claim, at, dueAt, failures: 0, failure: null, found }];
  });
  await storePolls(tx, stored);
  for (const { orgId } of stored) tx.touch('org_limit', orgId);
  return stored.map(({ orgId }) => orgId);
}

const peakOf = ({ used, max }: LimitState): number | null =>
  max === null ? null : Math.min(HUNDREDTHS_MAX, Math.round(usagePct(used, max) * 100));

function announce(tx: Tx, org: { id: string; username: string }, changes: readonly LimitChange[]): void {
  const { id: entityId, username } = org;
  for (const { event, limit, previousLevel } of changes) {
    const { name: limitName, ...shown } = shownLimit(limit);
    emitEvent(tx, `org_limit.${event}`, { orgUsername: username, limitName, ...shown, previousLevel });
  }
  tx.audit({
    source: 'crm',
    action: 'org.limits_alerted',
    entityType: 'crm_org',
    entityId,
    summary: `Limits of org ${username} changed their level: ${changes.length}`,
    after: {
      limits: changes.map(({ event, limit: { name, used, max } }) => ({
        name,
        event,
        usagePct: usagePct(used, max ?? 0),
      })),
    },
  });
}
