import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { Override } from '../../projects/policies/promotion-policy-rules.ts';
import type { ApprovalStatus, Decision } from './approval-rules.ts';

/** What took a step: a run that asked, a person, the passing of time, an external worker, or a change of the object. */
export type StepSource = 'run' | 'vote' | 'timer' | 'worker' | 'release_candidate' | 'newer_request' | 'run_ended';

export const ApprovalSchema = defineEntity({
  name: 'Approval',
  tableName: 'approval',
  properties: {
    ...tenantOwned,
    projectId: p.uuid().nullable(),
    repositoryIdentifier: p.text().nullable(),
    runId: p.uuid(),
    taskType: p.text(),
    environmentId: p.uuid().nullable(),
    environmentName: p.text().nullable(),
    domain: p.text().nullable(),
    releaseName: p.text().nullable(),
    status: p.text().$type<ApprovalStatus>().default('requested'),
    /** E-mails and team slugs; none: the owners of the tenant. */
    approvers: p.array(),
    minApprovals: p.integer(),
    allowSelfApproval: p.boolean(),
    expiresAt: p.datetime(6),
    /** Id of the actor who requested it; the id of a user, if they did so in person. */
    requesterId: p.text(),
    /** Ids of all people who set it in motion. */
    requesterIds: p.array().default([]),
    /** An owner who requested it in person may approve it while the tenant has no other owner. */
    allowSoleOwner: p.boolean().default(false),
    /** E-mail of the requester. */
    requestedBy: p.text(),
    resolvedBy: p.text().nullable(),
    resolvedAt: p.datetime(3).nullable(),
    comment: p.text().nullable(),
    /** Digest of the release candidate's content when the approval was requested; null: it is about no candidate. */
    contentDigest: p.text().nullable(),
    /** When its workflow was first known to run. */
    confirmedAt: p.datetime(3).nullable(),
    /** When the run's workflow was notified how it was settled. */
    runNotifiedAt: p.datetime(3).nullable(),
  },
});
export class Approval extends ApprovalSchema.class {}
ApprovalSchema.setClass(Approval);

export const ApprovalEventSchema = defineEntity({
  name: 'ApprovalEvent',
  tableName: 'approval_event',
  properties: {
    id: p.uuid().primary(),
    tenantId: p.uuid(),
    projectId: p.uuid().nullable(),
    repositoryIdentifier: p.text().nullable(),
    /** Null: an override of a run for which nobody was asked. */
    approvalId: p.uuid().nullable(),
    runId: p.uuid(),
    taskType: p.text(),
    environmentName: p.text().nullable(),
    domain: p.text().nullable(),
    releaseName: p.text().nullable(),
    status: p.text().$type<ApprovalStatus | 'overridden'>(),
    source: p.text().$type<StepSource>(),
    voterId: p.text().nullable(),
    vote: p.text().$type<Decision>().nullable(),
    approvers: p.array(),
    requestedBy: p.text(),
    requestedAt: p.datetime(3),
    resolvedBy: p.text().nullable(),
    resolvedAt: p.datetime(3).nullable(),
    comment: p.text().nullable(),
    /** The override of its run; null: the run has none. */
    override: jsonColumn<Override>().nullable(),
    occurredAt: p.datetime(3),
  },
});
