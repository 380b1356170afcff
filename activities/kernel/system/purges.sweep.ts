import { purgeBudgetMonths, purgeCalls } from '../../../domain/insight/language-models/ai-calls.queries.ts';
import { type Purge, purgeAll, purgeOlderThan } from '../../../domain/kernel/system/purges.queries.ts';
import { purgeSweepFailures } from '../../../domain/kernel/system/sweep-failures.queries.ts';
import { createLaneStore } from '../../../domain/events/webhooks/lane-store.queries.ts';
import { defineChore } from './define-sweep.ts';

/** Longer than any writer is at work without writing: a program may run for a day and print nothing. */
const ABANDONED_MS = 2 * 86_400_000;

/** Longer than the use of AI is shown, and than budgets run. */
const AI_CALLS_KEPT_DAYS = 400;

const purge = (name: string, purgeFunction: Purge) =>
  defineChore({ name, run: ({ system }) => purgeAll(system, purgeFunction) });

/** The removal of what has expired. */
export const PURGES = [
  purge('expired-replies', 'purge_idempotency_keys'),
  purge('expired-sessions', 'purge_sessions'),
  purge('expired-invitations', 'purge_invitations'),
  purge('expired-sign-in-failures', 'purge_sign_in_failures'),
  purge('expired-hooks', 'purge_hook_deliveries'),
  purge('expired-build-previews', 'purge_build_previews'),
  purge('expired-known-sign-ins', 'purge_known_sign_ins'),
  purge('expired-lock-tickets', 'purge_lock_tickets'),
  purge('expired-rate-limits', 'purge_rate_limits'),
  purge('expired-run-tokens', 'purge_run_tokens'),
  purge('expired-chat-actions', 'purge_chat_actions'),
  defineChore({
    name: 'expired-deliveries',
    run: ({ system, webhooks }) => createLaneStore(system).purge(webhooks.logRetentionDays),
  }),
  defineChore({
    name: 'ended-reviews',
    run: ({ system, retention }) => purgeOlderThan(system, 'purge_reviews', retention.reviewDays),
  }),
  defineChore({
    name: 'ended-pull-requests',
    run: ({ system, retention }) => purgeOlderThan(system, 'purge_pull_requests', retention.pullRequestDays),
  }),
  defineChore({ name: 'expired-ai-calls', run: ({ system }) => purgeCalls(system, AI_CALLS_KEPT_DAYS) }),
  defineChore({ name: 'ended-ai-budgets', run: ({ system }) => purgeBudgetMonths(system, AI_CALLS_KEPT_DAYS) }),
  defineChore({ name: 'abandoned-files', run: ({ objects }) => objects.removeAbandoned(ABANDONED_MS) }),
  defineChore({ name: 'expired-sweep-failures', run: ({ system }) => purgeSweepFailures(system) }),
];
