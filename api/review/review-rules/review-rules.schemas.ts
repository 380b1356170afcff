import { z } from 'zod';
import { POOL_TYPES } from '../../../domain/review/review-pools/instance-rules.ts';
import {
  DOMAIN_PATTERNS_MAX,
  MISMATCHES,
  PATTERN_MAX,
  PRIORITY_MAX,
} from '../../../domain/review/review-rules/review-match-rules.ts';
import { REVIEW_TARGET_TYPES } from '../../../domain/review/review-rules/review-rules.entities.ts';
import {
  CurrentVersion,
  FreeText,
  Name,
  queryInt,
  RepositoryIdentifier,
  Timestamp,
  WITHOUT_CONTROLS,
} from '../../http/parameters.ts';

const text = z.string().min(1).max(PATTERN_MAX).regex(WITHOUT_CONTROLS, 'must have no control characters');
const Pattern = text.meta({
  description: 'A literal, `*`, `text*` or `*text`: stars cross slashes, case counts; any other star gets 400',
  example: 'feature/*',
});
const TargetType = z.enum(REVIEW_TARGET_TYPES);

const settings = {
  poolTag: Name.nullable()
    .optional()
    .meta({ description: 'Tag of a pool of the repository; for `targetType` pool alone' }),
  environmentName: Name.nullable()
    .optional()
    .meta({ description: 'Name of an environment of the repository; for `targetType` environment alone' }),
  branchPattern: Pattern.optional().meta({ description: 'Default: `*`. As the patterns of domains' }),
  domainPattern: Pattern.nullable().optional().meta({ description: 'One more of `domainPatterns`' }),
  domainPatterns: z.array(Pattern).max(DOMAIN_PATTERNS_MAX).nullable().optional().meta({
    description: 'A set: kept sorted, each once. None: any domain',
  }),
  priority: z.int().min(-PRIORITY_MAX).max(PRIORITY_MAX).optional().meta({ description: 'Default 0' }),
  description: FreeText.optional(),
  isActive: z.boolean().optional().meta({ description: 'Default true' }),
};

export const ReviewRuleIn = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier,
  targetType: TargetType,
  ...settings,
});

/** What the service sets itself; a rule as it was read can be sent back. */
const Ignored = z.unknown().optional().meta({ description: 'Ignored' });

export const ReviewRulePut = z.strictObject({
  ...settings,
  targetType: TargetType.optional(),
  repositoryIdentifier: RepositoryIdentifier.optional().meta({
    description: 'Must be that of the rule, which stays in its repository',
  }),
  version: CurrentVersion.optional(),
  id: Ignored,
  poolType: Ignored,
  createdAt: Ignored,
  updatedAt: Ignored,
  createdBy: Ignored,
  updatedBy: Ignored,
});

export const ReviewRule = z
  .object({
    id: z.uuid(),
    repositoryIdentifier: RepositoryIdentifier,
    targetType: TargetType,
    poolTag: z.string().nullable(),
    poolType: z.enum(POOL_TYPES).nullable().meta({ description: 'Type of the pool' }),
    environmentName: z.string().nullable(),
    branchPattern: z.string(),
    domainPattern: z
      .string()
      .nullable()
      .meta({ description: 'The only one of `domainPatterns`; null for none or several' }),
    domainPatterns: z.array(z.string()),
    priority: z.int(),
    description: z.string(),
    isActive: z.boolean(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    createdBy: z.string(),
    updatedBy: z.string(),
    version: z.int(),
  })
  .meta({ id: 'ReviewRule' });

export const ReviewRulesQuery = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier.optional(),
  poolTag: Name.optional(),
  targetType: TargetType.optional(),
  isActive: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional(),
  branchPattern: text.optional().meta({ description: 'Part of the pattern' }),
  domainPattern: text.optional().meta({ description: 'Part of one of the patterns' }),
  limit: queryInt(1, 500, 100),
  offset: queryInt(0, 1_000_000, 0),
});

export const RuleTestIn = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier,
  branch: text.meta({ example: 'feature/checkout' }),
  domain: text.optional().meta({ example: 'sales' }),
});

export const RuleTestOut = z
  .object({
    matched: z.boolean(),
    targetType: TargetType.nullable().meta({
      description: 'Target of the best match, as are `poolTag` and `environmentName`',
    }),
    poolTag: z.string().nullable(),
    environmentName: z.string().nullable(),
    assignment: ReviewRule.nullable().meta({ description: 'The rule that matches best' }),
    matches: z
      .array(
        z.object({
          assignment: ReviewRule,
          branchScore: z.int().meta({
            description: '100: exact; 50 and the literal characters of a prefix or suffix, up to 49; 1: `*`',
          }),
          domainScore: z.int().meta({
            description: 'Score of the best of the patterns of domains; 0 without them',
          }),
          totalScore: z.int().meta({ description: '`priority` × 1000 + `branchScore` + `domainScore`' }),
        }),
      )
      .meta({ description: 'The best 100, the best first; of equal ones the older rule' }),
    matchesTotal: z.int().meta({ description: 'How many rules match, those included that are not shown' }),
    explained: z
      .array(z.object({ ruleId: z.uuid(), reason: z.enum(MISMATCHES) }))
      .meta({ description: 'Why others do not match: the 50 oldest' }),
    testParams: z.object({
      repositoryIdentifier: z.string(),
      branch: z.string(),
      domain: z.string().nullable(),
    }),
  })
  .meta({ id: 'ReviewRuleTest' });
