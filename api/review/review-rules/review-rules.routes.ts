import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import {
  createReviewRule,
  removeReviewRule,
  updateReviewRule,
} from '../../../domain/review/review-rules/review-rules.mutations.ts';
import {
  listReviewRules,
  matchedRules,
  reviewRule,
  REVIEW_RULES_MAX,
  type ReviewRuleRow,
} from '../../../domain/review/review-rules/review-rules.queries.ts';
import { isoOf } from '../../../domain/kernel/text/date-time-rules.ts';
import { z } from 'zod';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId, NoContent } from '../../http/parameters.ts';
import { JsonText, pageReply } from '../../http/replies.ts';
import {
  ReviewRule,
  ReviewRuleIn,
  ReviewRulePut,
  ReviewRulesQuery,
  RuleTestIn,
  RuleTestOut,
} from './review-rules.schemas.ts';

const GROUP = 'Review assignment rules';
/** Rules that do not match whose reasons are shown. */
const EXPLAINED_MAX = 50;
/** Rules that match that are shown: a rule may have some 13 kB of patterns. */
const MATCHES_MAX = 100;

const view = (rule: ReviewRuleRow) => ({
  ...rule,
  domainPattern: rule.domainPatterns.length === 1 ? (rule.domainPatterns[0] ?? null) : null,
  createdAt: isoOf(rule.createdAt),
  updatedAt: isoOf(rule.updatedAt),
});

export const reviewRulesRoutes = [
  defineRoute({
    operationId: 'createReviewRule',
    method: 'post',
    path: '/api/review/pools/assign',
    group: GROUP,
    summary: 'Add a rule that leads branches and domains to a pool or a dedicated environment',
    description: `A rule with the same patterns and target gets 409. A repository has at most ${REVIEW_RULES_MAX.toLocaleString('en')} rules.`,
    roles: ['owner'],
    projectScope: 'row',
    body: ReviewRuleIn,
    status: 201,
    response: ReviewRule,
    errors: ['already_exists'],
    audit: 'review_rule.created',
    handle: ({ body: { repositoryIdentifier, ...input } }, { tx }) =>
      tx(async (work) => view(await createReviewRule(work, await projectInRequest(work, repositoryIdentifier), input))),
  }),
  defineRoute({
    operationId: 'listReviewRules',
    method: 'get',
    path: '/api/review/pools/assign',
    group: GROUP,
    summary: 'List review assignment rules',
    description:
      'By priority, the highest first; of equal ones the older first. The header `Link` leads to further pages.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: ReviewRulesQuery,
    status: 200,
    response: z.array(ReviewRule),
    async handle({ query: { repositoryIdentifier, limit, offset, ...filter } }, { reads, requestUrl }) {
      const projectId =
        repositoryIdentifier === undefined ? undefined : (await projectInRequest(reads, repositoryIdentifier)).id;
      const planned = reads.with({ isPlannedAnew: true });
      const { items, total } = await listReviewRules(planned, { projectId, ...filter }, { limit, offset });
      return pageReply(requestUrl, { limit, offset, total }, new JsonText(JSON.stringify(items.map(view))));
    },
  }),
  defineRoute({
    operationId: 'testReviewRules',
    method: 'post',
    path: '/api/review/pools/assign/test',
    group: GROUP,
    summary: 'Find the rules that match a branch and a domain',
    description: 'Without a domain, only rules for all domains match.',
    roles: ANY_ROLE,
    projectScope: 'row',
    body: RuleTestIn,
    status: 200,
    response: RuleTestOut,
    audit: { none: 'only reads' },
    async handle({ body: { repositoryIdentifier, branch, domain } }, { reads, adapters }) {
      const project = await projectInRequest(reads, repositoryIdentifier);
      const asked = { branch, domains: domain === undefined ? [] : [domain] };
      const found = await matchedRules(reads, adapters.reviewRules, project.id, asked, MATCHES_MAX);
      const { matches, total, mismatches } = found;
      const shown = matches.map(({ rule, ...scores }) => ({ assignment: view(rule), ...scores }));
      const best = shown[0]?.assignment;
      // To parse thousands of matches by the schema would take most of the time.
      return new JsonText(
        JSON.stringify({
          matched: best !== undefined,
          targetType: best?.targetType ?? null,
          poolTag: best?.poolTag ?? null,
          environmentName: best?.environmentName ?? null,
          assignment: best ?? null,
          matches: shown,
          matchesTotal: total,
          explained: mismatches.slice(0, EXPLAINED_MAX),
          testParams: { repositoryIdentifier, branch, domain: domain ?? null },
        }),
      );
    },
  }),
  defineRoute({
    operationId: 'getReviewRule',
    method: 'get',
    path: '/api/review/pools/assign/{id}',
    group: GROUP,
    summary: 'Get a review assignment rule',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 200,
    response: ReviewRule,
    handle: async ({ params: { id } }, { reads }) => view(await reviewRule(reads, id)),
  }),
  defineRoute({
    operationId: 'updateReviewRule',
    method: 'put',
    path: '/api/review/pools/assign/{id}',
    group: GROUP,
    summary: 'Change a review assignment rule',
    description: 'Fields that are absent do not change; a new `targetType` needs its pool or environment.',
    roles: ['owner'],
    projectScope: 'row',
    params: byId,
    body: ReviewRulePut,
    status: 200,
    response: ReviewRule,
    errors: ['already_exists', 'version_conflict'],
    audit: 'review_rule.updated',
    handle: ({ params: { id }, body }, { tx }) => tx(async (work) => view(await updateReviewRule(work, id, body))),
  }),
  defineRoute({
    operationId: 'deleteReviewRule',
    method: 'delete',
    path: '/api/review/pools/assign/{id}',
    group: GROUP,
    summary: 'Delete a review assignment rule',
    roles: ['owner'],
    projectScope: 'row',
    params: byId,
    status: 204,
    response: NoContent,
    audit: 'review_rule.deleted',
    handle: ({ params: { id } }, { tx }) => tx((work) => removeReviewRule(work, id)),
  }),
];
