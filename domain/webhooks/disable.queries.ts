import type { Tx } from '../unit-of-work.ts';
import { emitEvent } from './emit.queries.ts';

interface DisabledRow {
  id: string;
  name: string;
  event: string;
  url: string;
  reason: string;
  errorCount: number;
}

/**
 * Carries out what the lanes noted of a webhook whose receiver failed: from now on it is `failed`, and those who
 * subscribe to `webhook.disabled` hear of it. Nothing happens when its owner was faster.
 */
export async function disableWebhook(tx: Tx, webhookId: string): Promise<void> {
  const [row] = await tx.sql<DisabledRow>(
    `update webhook set status = 'failed', updated_at = now()
     where id = ? and status = 'active' and failure_reason is not null and deleted_at is null
     returning id, name, event, url, failure_reason as reason, error_count as "errorCount"`,
    [webhookId],
  );
  if (!row) return;
  tx.audit({
    source: 'webhook',
    action: 'webhook.disabled',
    entityType: 'webhook',
    entityId: row.id,
    summary: `Webhook ${row.name} disabled: ${row.reason}`,
    before: { status: 'active' },
    after: { status: 'failed', failureReason: row.reason, errorCount: row.errorCount },
  });
  emitEvent(tx, 'webhook.disabled', { ...row, url: withoutQuery(row.url) });
}

/** Queries of receivers' addresses often hold a token. */
const withoutQuery = (address: string): string => {
  const url = new URL(address);
  return url.origin + url.pathname;
};
