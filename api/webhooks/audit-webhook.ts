import type { Tx } from '../../domain/unit-of-work.ts';

export const GROUP = 'Webhooks';

interface AuditedWebhook {
  id: string;
  name: string;
  repositoryIdentifier: string | null;
}

/** Notes a change of a webhook; `before` and `after` are as replies show it, without secrets. */
export function auditWebhook(
  work: Tx,
  action: string,
  webhook: AuditedWebhook,
  change: { before?: unknown; after?: unknown } = {},
): void {
  work.audit({
    source: 'webhook',
    action,
    entityType: 'webhook',
    entityId: webhook.id,
    repositoryIdentifier: webhook.repositoryIdentifier,
    summary: `Webhook ${webhook.name}: ${(action.split('.')[1] ?? '').replaceAll('_', ' ')}`,
    ...change,
  });
}
