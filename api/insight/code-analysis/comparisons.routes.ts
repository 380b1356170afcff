import { z } from 'zod';
import { comparedSides } from '../../../domain/insight/code-analysis/comparisons/comparison-pages.queries.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { LEVELS } from '../../../domain/insight/code-analysis/sarif/sarif-rules.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { Name, queryInt, RepositoryIdentifier, Timestamp } from '../../http/parameters.ts';
import { CommitId } from './code-analysis.schemas.ts';
import { PREFIX } from './shown-analysis.ts';

const Side = z.object({ commitId: z.string(), analyzedAt: Timestamp });
const Found = z.object({
  tool: z.string(),
  ruleId: z.string(),
  level: z.enum(LEVELS),
  path: z.string(),
  startLine: z.int().nullable(),
  message: z.string(),
});

const CompareQuery = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier,
  branch: Name,
  base: CommitId,
  head: CommitId,
  limit: queryInt(1, 1_000, 100),
  cursor: z
    .string()
    .regex(/^(new|fixed)-\d{1,9}$/, 'not a cursor')
    .optional(),
});

const CompareOut = z
  .object({
    base: Side,
    head: Side,
    new: z.array(Found),
    fixed: z.array(Found),
    unchangedCount: z.int(),
    isComplete: z.boolean().meta({
      description: 'false: a tool found more than is kept, so that issues may be missing, or only look new or fixed',
    }),
    incompleteReason: z.string().nullable().meta({ description: 'How many were found and kept; null when complete' }),
    limit: z.int(),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'CodeAnalysisComparison' });

export const codeAnalysisComparisonRoutes = [
  defineRoute({
    operationId: 'compareCodeAnalyses',
    method: 'get',
    path: `${PREFIX}/compare`,
    group: 'Code analysis',
    summary: 'Compare the issues of two commits of a branch',
    description:
      'An issue is the same when tool, rule, path and the hash of its line are. `limit` holds for new and fixed issues together, the new ones first. A commit whose results are being indexed gets 409 `in_progress`.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: CompareQuery,
    status: 200,
    response: CompareOut,
    errors: ['in_progress'],
    async handle({ query: { repositoryIdentifier, branch, base, head, limit, cursor } }, { reads }) {
      const project = await projectInRequest(reads, repositoryIdentifier);
      return comparedSides(reads, { projectId: project.id, branch }, { base, head, limit, cursor });
    },
  }),
];
