import { defineEntity, p } from '@mikro-orm/core';
import { tenantOwned } from '../shared/tenant-owned.ts';
import { NEW_CANDIDATE } from './candidate-status-rules.ts';
import type { ReleaseDefinition } from './comparison-rules.ts';

const ReleaseCandidateSchema = defineEntity({
  name: 'ReleaseCandidate',
  tableName: 'release_candidate',
  properties: {
    ...tenantOwned,
    projectId: p.uuid(),
    domain: p.string(),
    releaseName: p.string(),
    commitSha: p.string(),
    /** Without one the candidate counts as on the default branch. */
    branch: p.string().nullable(),
    tag: p.string().nullable(),
    /** The release definition: an open object whose `artifacts` map package names to versions. */
    value: p.json<ReleaseDefinition & Record<string, unknown>>(),
    status: p.string().default(NEW_CANDIDATE),
    statusChangedAt: p.datetime(3).nullable(),
    statusChangedBy: p.string().nullable(),
    createdBy: p.string(),
    updatedBy: p.string(),
    version: p.integer().version(),
  },
});
export class ReleaseCandidate extends ReleaseCandidateSchema.class {}
ReleaseCandidateSchema.setClass(ReleaseCandidate);

export const releaseCandidateEntities = [ReleaseCandidateSchema];
