/** `active` and `inactive` are the owner's choice; `failed` is set by the service, with a reason. */
export const WEBHOOK_STATUSES = ['active', 'inactive', 'failed'] as const;
export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

/** The statuses that an owner may ask for; from each status there is a way to both. */
export const OWNER_STATUSES = ['active', 'inactive'] as const satisfies readonly WebhookStatus[];
export type OwnerStatus = (typeof OWNER_STATUSES)[number];

/** Whether events are queued and sent. What is pending when this ends waits until it begins again. */
export const isDelivering = (status: WebhookStatus): boolean => status === 'active';

/** An owner who says `active` vouches for the receiver: what it did before no longer counts. */
export const forgetsFailures = (wanted: OwnerStatus | undefined): boolean => wanted === 'active';

/** Why nothing is queued for a webhook in this status. */
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
