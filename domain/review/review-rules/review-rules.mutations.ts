import { LockMode } from '@mikro-orm/core';
import { createHash } from 'node:crypto';
import { environmentByName } from '../../projects/environments/environments.queries.ts';
import { projectById, type ProjectFacts } from '../../projects/projects/projects.queries.ts';
import { poolByTag } from '../review-pools/review-pools.queries.ts';
import { DomainError, invalidField, notFound, versionConflict } from '../../kernel/shared/errors.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Patch } from '../../kernel/shared/merge-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import { DOMAIN_PATTERNS_MAX, domainSet, patternProblem } from './review-match-rules.ts';
import { ReviewRule, type ReviewTargetType } from './review-rules.entities.ts';
import {
  countReviewRules,
  hasLikeRule,
  REVIEW_RULES_MAX,
  reviewRule,
  type ReviewRuleRow,
} from './review-rules.queries.ts';

interface Patterns {
  branchPattern?: string | undefined;
  /** One more of `domainPatterns`. */
  domainPattern?: string | null | undefined;
  domainPatterns?: readonly string[] | null | undefined;
}

interface Target {
  targetType: ReviewTargetType;
  poolTag?: string | null | undefined;
  environmentName?: string | null | undefined;
}

type Settings = Patch<Pick<ReviewRule, 'priority' | 'description' | 'isActive'>>;

export type NewReviewRule = Target & Patterns & Settings;
export type ReviewRulePatch = Patch<Target> &
  Patterns &
  Settings & { repositoryIdentifier?: string | undefined; version?: number | undefined };

/** Adds a rule to a project. Throws `invalid_request` and `already_exists`. */
export async function createReviewRule(tx: Tx, project: ProjectFacts, input: NewReviewRule): Promise<ReviewRuleRow> {
  if ((await countReviewRules(tx, project.id)) >= REVIEW_RULES_MAX)
    throw new DomainError('invalid_request', `A project has at most ${REVIEW_RULES_MAX} rules`);
  const { priority = 0, description = '', isActive = true, branchPattern = '*' } = input;
  const target = await targetOf(tx, project, input);
  const patterns = assertPatterns({ branchPattern, domainPatterns: givenDomains(input) ?? [] });
  const rule = tx.em.create(ReviewRule, {
    id: newId(),
    tenantId: tx.tenantId,
    projectId: project.id,
    ...target,
    ...patterns,
    priority,
    description,
    isActive,
    createdBy: tx.actor.email,
    updatedBy: tx.actor.email,
    likeness: likenessOf({ ...target, ...patterns }),
  });
  await assertUnlike(tx, rule);
  await tx.em.flush();
  const row = await reviewRule(tx, rule.id);
  audit(tx, 'created', row, { after: stateOf(row) });
  return row;
}

/**
 * Changes what is given of a rule. Throws `not_found`, `invalid_request`, `already_exists`, and `version_conflict` when
 * `version` is not the current one.
 */
export async function updateReviewRule(tx: Tx, id: string, input: ReviewRulePatch): Promise<ReviewRuleRow> {
  const rule = await tx.em.findOne(ReviewRule, { tenantId: tx.tenantId, id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  const project = rule && (await projectById(tx, rule.projectId));
  if (!project) throw notFound('The rule');
  const { version, targetType = rule.targetType, priority, description, isActive } = input;
  if (version !== undefined && version !== rule.version) throw versionConflict('The rule', rule.version);
  if (input.repositoryIdentifier !== undefined && input.repositoryIdentifier !== project.identifier)
    throw invalidField('repositoryIdentifier', `The rule belongs to ${project.identifier}, and stays there`);
  const before = await reviewRule(tx, id);
  const kept = targetType === rule.targetType ? before : undefined;
  const target = await targetOf(tx, project, {
    targetType,
    poolTag: input.poolTag ?? kept?.poolTag,
    environmentName: input.environmentName ?? kept?.environmentName,
  });
  const patterns = assertPatterns({
    branchPattern: input.branchPattern ?? rule.branchPattern,
    domainPatterns: givenDomains(withoutShownPattern(input, rule)) ?? rule.domainPatterns,
  });
  tx.em.assign(rule, {
    ...target,
    ...patterns,
    priority: priority ?? rule.priority,
    description: description ?? rule.description,
    isActive: isActive ?? rule.isActive,
    updatedBy: tx.actor.email,
    likeness: likenessOf({ ...target, ...patterns }),
  });
  await assertUnlike(tx, rule);
  await tx.em.flush();
  const after = await reviewRule(tx, id);
  audit(tx, 'updated', after, { before: stateOf(before), after: stateOf(after) });
  return after;
}

/** Throws `not_found`. */
export async function removeReviewRule(tx: Tx, id: string): Promise<void> {
  const before = await reviewRule(tx, id);
  await tx.db.deleteFrom('review_rule').where('tenantId', '=', tx.tenantId).where('id', '=', id).execute();
  audit(tx, 'deleted', before, { before: stateOf(before) });
}

/** The patterns of domains that a request names; undefined: it names none, so that they stay as they are. */
function givenDomains({ domainPattern, domainPatterns }: Patterns): string[] | undefined {
  if (domainPattern === undefined && domainPatterns === undefined) return undefined;
  return [...(domainPatterns ?? []), ...(typeof domainPattern === 'string' ? [domainPattern] : [])];
}

/** The `domainPattern` that a rule shows is sent back with the rule; beside new `domainPatterns` it is no wish to keep it. */
const withoutShownPattern = (
  { domainPattern, domainPatterns }: Patterns,
  { domainPatterns: [shown, ...more] }: Pick<ReviewRule, 'domainPatterns'>,
): Patterns =>
  domainPatterns !== undefined && more.length === 0 && domainPattern === shown
    ? { domainPatterns }
    : { domainPattern, domainPatterns };

/** Throws `invalid_request` for what is no pattern, and for too many of them. */
function assertPatterns(given: { branchPattern: string; domainPatterns: readonly string[] }) {
  const { branchPattern } = given;
  const domainPatterns = domainSet(given.domainPatterns);
  const branchProblem = patternProblem(branchPattern);
  if (branchProblem !== undefined) throw invalidField('branchPattern', branchProblem);
  for (const [index, pattern] of given.domainPatterns.entries()) {
    const problem = patternProblem(pattern);
    if (problem !== undefined) throw invalidField(`domainPatterns/${index}`, problem);
  }
  if (domainPatterns.length > DOMAIN_PATTERNS_MAX)
    throw invalidField('domainPatterns', `must be at most ${DOMAIN_PATTERNS_MAX}, with \`domainPattern\``);
  return { branchPattern, domainPatterns };
}

/** The pool or environment that a rule names. Throws `invalid_request` for an unknown one, and for one of the other type. */
async function targetOf(
  tx: Tx,
  project: ProjectFacts,
  { targetType, poolTag, environmentName }: Target,
): Promise<Pick<ReviewRule, 'targetType' | 'poolId' | 'environmentId'>> {
  if (targetType === 'pool') {
    if (environmentName) throw invalidField('environmentName', 'is not for rules whose targetType is pool');
    if (!poolTag) throw invalidField('poolTag', 'must name a pool of the repository');
    const pool = await poolByTag(tx, project.id, poolTag);
    if (!pool) throw invalidField('poolTag', `The repository has no pool ${poolTag}`);
    return { targetType, poolId: pool.id, environmentId: null };
  }
  if (poolTag) throw invalidField('poolTag', 'is not for rules whose targetType is environment');
  if (!environmentName) throw invalidField('environmentName', 'must name an environment of the repository');
  const environment = await environmentByName(tx, project.id, environmentName);
  if (!environment) throw invalidField('environmentName', `The repository has no environment ${environmentName}`);
  return { targetType, poolId: null, environmentId: environment.id };
}

/** Short, since patterns together may be longer than a key of an index. */
const likenessOf = ({
  branchPattern,
  domainPatterns,
  poolId,
  environmentId,
}: Pick<ReviewRule, 'branchPattern' | 'domainPatterns' | 'poolId' | 'environmentId'>): string =>
  createHash('sha256')
    .update(JSON.stringify([branchPattern, domainPatterns, poolId, environmentId]))
    .digest('base64url');

async function assertUnlike(tx: Tx, rule: ReviewRule): Promise<void> {
  if (await hasLikeRule(tx, rule))
    throw new DomainError('already_exists', 'The repository has a rule with the same patterns and target');
}

/** What of a rule stands in the audit trail. */
const stateOf = ({ id: _, repositoryIdentifier: _r, createdAt: _c, updatedAt: _u, ...state }: ReviewRuleRow) => state;

const audit = (
  tx: Tx,
  action: 'created' | 'updated' | 'deleted',
  { id, repositoryIdentifier, branchPattern, poolTag, environmentName }: ReviewRuleRow,
  change: { before?: object; after?: object },
) =>
  tx.audit({
    source: 'environment',
    action: `review_rule.${action}`,
    entityType: 'review_rule',
    entityId: id,
    repositoryIdentifier,
    summary: `Review assignment rule of ${branchPattern} to ${poolTag ?? environmentName} ${action}`,
    ...change,
  });
