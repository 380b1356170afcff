/** `active` and `inactive` are the owner's choice; `failed` is set by the service, with a reason. */
export const WEBHOOK_STATUSES = ['active', 'inactive', 'failed'] as const;
export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

/** The statuses that an owner may set, whatever the current one. */
export const OWNER_STATUSES = ['active', 'inactive'] as const satisfies readonly WebhookStatus[];
export type OwnerStatus = (typeof OWNER_STATUSES)[number];

/** Whether events are queued and sent; otherwise pending deliveries wait. */
export const isDelivering = (status: WebhookStatus): boolean => status === 'active';

/** Whether the counts of failures are reset. */
export const forgetsFailures = (wanted: OwnerStatus | undefined): boolean => wanted === 'active';

/** Why nothing is queued for a webhook in this status; undefined if it is active. */
export function refusalOf(status: WebhookStatus, failureReason: string | null): string | undefined {
  switch (status) {
    case 'active':
      return undefined;
    case 'inactive':
      return 'The webhook is inactive';
    case 'failed':
      return `The webhook is disabled: ${failureReason ?? 'its receiver failed'}`;
  }
}
