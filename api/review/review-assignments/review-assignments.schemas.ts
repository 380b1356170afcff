import { z } from 'zod';
import { ASSIGNMENT_STATES, ASSIGNMENT_TYPES } from '../../../domain/review/review-assignments/assignment-rules.ts';
import { LEASE_HOURS_MAX } from '../../../domain/review/review-pools/review-pools.mutations.ts';
import { NAME_MAX, Name, queryInt, RepositoryIdentifier, Timestamp, WITHOUT_CONTROLS } from '../../http/parameters.ts';

const text = z.string().trim().min(1).max(NAME_MAX).regex(WITHOUT_CONTROLS, 'must have no control characters');

const AssignmentType = z.enum(ASSIGNMENT_TYPES);
const AssignmentId = text.meta({
  description: 'Number of the pull request, key of the issue, e-mail of the person (`user`), or any name (`custom`)',
  example: '118',
});
const Hours = z.int().min(1).max(LEASE_HOURS_MAX);

export const AssignmentIn = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier,
  assignmentType: AssignmentType,
  assignmentId: AssignmentId,
  branch: text.optional().meta({ description: 'For the rules; without it only rules for all branches match' }),
  domains: z.array(text).max(50).default([]).meta({
    description: 'For the rules, which count the one that matches best; without them only rules for all domains match',
  }),
  poolTag: Name.optional().meta({
    description: 'Tag of an active pool; without this and `environmentName` the rules decide',
  }),
  environmentName: Name.optional().meta({
    description: 'Name of an active environment, which others may have as well',
  }),
  expirationHours: Hours.optional().meta({
    description: 'Default: `leaseHours` of the pool; at most its `maxLeaseHours`',
  }),
  isImmortal: z.boolean().default(false).meta({ description: 'No lease, for owners; an org that ends, ends it' }),
  override: z.boolean().default(false).meta({
    description: 'Replace what this key has or waits for, instead of keeping it; for those who may change that',
  }),
  wait: z.boolean().default(true).meta({ description: 'False: 409 `pool_exhausted` when no org is free' }),
});

export const ReviewAssignment = z
  .object({
    id: z.uuid(),
    repositoryIdentifier: RepositoryIdentifier,
    assignmentType: AssignmentType,
    assignmentId: z.string(),
    branch: z.string().nullable(),
    domains: z.array(z.string()),
    poolTag: z.string().nullable(),
    environmentName: z.string().nullable(),
    ruleId: z.uuid().nullable().meta({ description: 'The rule that led to the pool or environment' }),
    expirationHours: z.int().nullable(),
    isImmortal: z.boolean(),
    state: z.enum(ASSIGNMENT_STATES),
    position: z
      .int()
      .nullable()
      .meta({ description: 'Position of a pending assignment, from 1 for the next; null for others' }),
    instance: z
      .object({
        username: z.string(),
        orgUrl: z.url().meta({ description: 'Opens the org through the front door of this service' }),
      })
      .nullable(),
    assignedAt: Timestamp.nullable(),
    expiresAt: Timestamp.nullable(),
    endedAt: Timestamp.nullable(),
    reason: z.string().nullable().meta({ description: 'Why it ended' }),
    requestedBy: z.string().meta({ description: 'E-mail of a person, or name of an application token' }),
    createdAt: Timestamp,
  })
  .meta({ id: 'ReviewAssignment' });

export const AssignmentsQuery = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier.optional(),
  assignmentType: AssignmentType.optional(),
  assignmentId: AssignmentId.optional(),
  state: z.enum(ASSIGNMENT_STATES).optional(),
  poolTag: Name.optional(),
  environmentName: Name.optional(),
  limit: queryInt(1, 200, 50),
  offset: queryInt(0, 1_000_000, 0),
});

export const ExtendOut = ReviewAssignment.extend({
  warnings: z.array(z.string()).meta({ description: 'What was given instead of what was asked for' }),
}).meta({ id: 'ExtendedReviewAssignment' });

export const ReviewAssignments = z.object({
  items: z.array(ReviewAssignment),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
});

export const ExtendIn = z.strictObject({
  hours: Hours.meta({ description: 'From now; a lease never gets shorter by it' }),
});
