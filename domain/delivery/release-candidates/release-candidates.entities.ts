import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { ReleaseDefinition } from './comparison-rules.ts';
import type { StoredHold } from './holds/hold-rules.ts';

export const ReleaseCandidateSchema = defineEntity({
  name: 'ReleaseCandidate',
  tableName: 'release_candidate',
  properties: {
    ...tenantOwned,
    projectId: p.uuid(),
    domain: p.text(),
    releaseName: p.text(),
    commitSha: p.text(),
    branch: p.text().nullable(),
    tag: p.text().nullable(),
    value: jsonColumn<ReleaseDefinition & Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    status: p.text().default('pending'),
    statusChangedAt: p.datetime(3).nullable(),
    statusChangedBy: p.text().nullable(),
    /** Name of the newer release along with which it was finalized. */
    supersededBy: p.text().nullable(),
    createdBy: p.text(),
    updatedBy: p.text(),
    version: p.integer().version().default(1),
    /** SHA-256 of commit and artifacts, which a trigger keeps. */
    contentDigest: p.text().default(''),
    /** What holds it back, with those whose time is over until a sweep has seen them. */
    holds: jsonColumn<StoredHold[]>().defaultRaw("'[]'::jsonb"),
    /** When the next of them is over. */
    holdEndsAt: p.datetime(3).nullable(),
  },
});
export class ReleaseCandidate extends ReleaseCandidateSchema.class {}
ReleaseCandidateSchema.setClass(ReleaseCandidate);

/**
 * What became of a candidate: a trigger notes it, and whoever changes its holds notes these. Not known of what came before
 * the table.
 */
export const ReleaseCandidateEventSchema = defineEntity({
  name: 'ReleaseCandidateEvent',
  tableName: 'release_candidate_event',
  properties: {
    id: p.uuid().primary(),
    tenantId: p.uuid(),
    projectId: p.uuid(),
    candidateId: p.uuid(),
    type: p.text().$type<'created' | 'content_changed' | 'status_changed' | 'held' | 'hold_lifted'>(),
    /** Commit or status before; null for a new candidate. */
    before: p.text().nullable(),
    /** Commit or status; `held`, or how a hold ended. */
    after: p.text(),
    supersededBy: p.text().nullable(),
    by: p.text().nullable(),
    at: p.datetime(3),
    /** Why it was held. */
    reason: p.text().nullable(),
    /** When that was to be over by itself. */
    until: p.datetime(3).nullable(),
    /** The environment whose verification failed. */
    environmentId: p.uuid().nullable(),
  },
});

export const ReleaseCandidateCountSchema = defineEntity({
  name: 'ReleaseCandidateCount',
  tableName: 'release_candidate_count',
  properties: {
    tenantId: p.uuid().primary(),
    projectId: p.uuid().primary(),
    domain: p.text().primary(),
    branch: p.text().primary(),
    status: p.text().primary(),
    candidates: p.bigint('string'),
  },
});
