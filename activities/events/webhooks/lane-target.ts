import type { KeyObject } from 'node:crypto';
import type { Encryption } from '../../../domain/kernel/encryption/encryption.ts';
import { compileTemplate } from '../../../domain/events/webhooks/body-template.ts';
import type { RetryPolicy } from '../../../domain/events/webhooks/delivery-rules.ts';
import { PatternShares } from '../../../domain/events/webhooks/pattern-work.ts';
import { compileFilter, type PayloadTest, type WebhookFilter } from '../../../domain/events/webhooks/filter-rules.ts';
import type { ClaimedDelivery, StoredTarget } from '../../../domain/events/webhooks/lane-store.queries.ts';
import { compileLinearRegex } from '../../../domain/events/webhooks/linear-regex.ts';
import { signingKey } from '../../../domain/events/webhooks/standard-webhooks.ts';
import type { AttemptOutcome } from '../../../domain/events/webhooks/webhook-sender.port.ts';
import { openHeaders, openSecret } from '../../../domain/events/webhooks/webhook-secrets.ts';

/** A webhook ready for sending: secrets decrypted, filter and template compiled. */
export interface LaneTarget extends RetryPolicy {
  revision: number;
  url: string;
  method: string;
  headers: Record<string, string>;
  timeoutMs: number;
  isWanted: PayloadTest | undefined;
  renderBody: ((envelope: unknown) => string | Promise<string>) | undefined;
  /** Why nothing can be sent; absent: it can. */
  refusal?: string;
  /** Spaces the deliveries to a receiver that takes only so many; those that wait have made no attempt. */
  pace?: {
    /** In how many ms a delivery may be sent; 0: now. */
    waitMs: (delivery: ClaimedDelivery) => number;
    /** In how many ms a delivery may be sent again that came too soon for the receiver; undefined: the attempt counts. */
    refused: (delivery: ClaimedDelivery, retryAfterMs: number) => number | undefined;
  };
  /** Reads answers of a receiver that says in the body whether it took a delivery. */
  judge?: (outcome: AttemptOutcome, delivery: ClaimedDelivery) => Promise<AttemptOutcome>;
  /** The keys that sign at a time: for a while after a rotation, two. */
  keysAt: (now: Date) => KeyObject[];
}

export function openTarget(
  { tenantId, webhookId }: { tenantId: string; webhookId: string },
  stored: StoredTarget,
  encryption: Encryption,
): LaneTarget {
  const { revision, url, method, timeoutMs, retryCount, retryDelayMs, filter, bodyTemplate } = stored;
  const current = signingKey(openSecret(encryption, webhookId, stored.secret));
  const previous =
    stored.previousSecret === null ? undefined : signingKey(openSecret(encryption, webhookId, stored.previousSecret));
  const previousUntil = new Date(stored.previousSecretUntil ?? 0);
  const hasFilter = filter !== null && Object.keys(filter).length > 0;
  return {
    revision,
    url,
    method,
    timeoutMs,
    retryCount,
    retryDelayMs,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Quayside-Webhooks/1',
      ...lowerCased(openHeaders(encryption, webhookId, stored.headers)),
    },
    isWanted: hasFilter ? boundedFilter(tenantId, filter) : undefined,
    renderBody: bodyTemplate === null ? undefined : compileTemplate(bodyTemplate),
    keysAt: (now) => (previous && now < previousUntil ? [current, previous] : [current]),
  };
}

const lowerCased = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** The most work of the patterns in a webhook's filter for one event: some 10 ms of a core. */
const FILTER_WORK_MAX = 500_000;

const patternShares = new PatternShares();

/** The test throws `PatternWorkError` for an event that takes more work, and `PatternShareError`. */
function boundedFilter(tenantId: string, filter: WebhookFilter): PayloadTest {
  const isWanted = compileFilter(filter, compileLinearRegex);
  return (envelope) => patternShares.evaluate(tenantId, FILTER_WORK_MAX, () => isWanted(envelope));
}
