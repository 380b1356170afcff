import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { idDate, idEnd } from '../../../domain/kernel/text/id-segment-rules.ts';
import { defineContract, defineSignal } from '../../launch.ts';
import { FLOWS_QUEUE } from '../../queues.contract.ts';

export interface VerificationInput extends TenantKey {
  verificationId: string;
}

/** Verifies a deployment by the checks of its environment. */
export const verificationContract = defineContract('verification', {
  taskQueue: FLOWS_QUEUE,
  workflowId: ({ tenantSlug, verificationId }) =>
    `${tenantSlug}/verification/${idDate(verificationId)}/${idEnd(verificationId)}`,
  summary: ({ verificationId }) => `Verification of a deployment of ${idDate(verificationId)}`,
  searchAttributes: ({ tenantSlug, verificationId }) => ({
    Tenant: tenantSlug,
    TaskType: 'verification',
    EntityId: verificationId,
  }),
});

/** A check has ended, or something else was deployed. */
export const verificationChangedSignal = defineSignal('verificationChanged');
