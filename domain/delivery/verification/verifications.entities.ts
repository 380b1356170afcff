import { defineEntity, p } from '@mikro-orm/core';
import type { FailureReaction, VerificationCheck } from '../../projects/policies/verification-policy-rules.ts';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import type { CheckState, VerificationState } from './verification-rules.ts';

/** What was done once a deployment was not verified. */
export interface Reaction {
  /** The run that takes the deployment back. */
  executionId?: string | undefined;
  /** Why none was started. */
  error?: string | undefined;
}

/** Whether a deployment does in its environment what it should; the newest of a deployment counts. */
export const VerificationSchema = defineEntity({
  name: 'Verification',
  tableName: 'verification',
  properties: {
    ...tenantOwned,
    projectId: p.uuid(),
    environmentId: p.uuid(),
    deploymentId: p.uuid(),
    state: p.text().$type<VerificationState>().default('pending'),
    onFailure: p.text().$type<FailureReaction>(),
    /** Who deployed, or asked for it again. */
    requestedBy: jsonColumn<Actor>(),
    /** For people: why it ended so. */
    detail: p.text().nullable(),
    reaction: jsonColumn<Reaction>().nullable(),
    begunAt: p.datetime(3).nullable(),
    endedAt: p.datetime(3).nullable(),
  },
});

/** One of the checks of a verification, as the environment had it when that was asked for. */
export const VerificationCheckSchema = defineEntity({
  name: 'VerificationCheck',
  tableName: 'verification_check',
  properties: {
    ...tenantOwned,
    verificationId: p.uuid(),
    position: p.integer(),
    settings: jsonColumn<VerificationCheck>(),
    state: p.text().$type<CheckState>().default('pending'),
    /** For people: what it found. */
    detail: p.text().nullable(),
    /** It has failed since nothing was found, instead of something bad. */
    isUnknown: p.boolean().default(false),
    /** The run that executes it. */
    runId: p.uuid().nullable(),
    begunAt: p.datetime(3).nullable(),
    endedAt: p.datetime(3).nullable(),
  },
});
