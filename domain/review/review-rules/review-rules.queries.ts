import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { statement } from '../../kernel/data/statement.ts';
import type { ReadDatabase } from '../../kernel/data/tables.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import { type AskedPlace, type MatchedRule, type Mismatch, matchRules, type RuleMatch } from './review-match-rules.ts';
import type { RuleCache } from './rule-cache.ts';
import type { ReviewTargetType } from './review-rules.entities.ts';

/** The most rules of one project: all of them are compared for each assignment. */
export const REVIEW_RULES_MAX = 5_000;

const rulesWithTargets = (db: ReadDatabase, tenantId: string) =>
  db
    .selectFrom('review_rule as r')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'r.tenantId').onRef('p.id', '=', 'r.projectId'))
    .leftJoin('review_pool as o', (join) => join.onRef('o.tenantId', '=', 'r.tenantId').onRef('o.id', '=', 'r.poolId'))
    .leftJoin('environment as e', (join) =>
      join.onRef('e.tenantId', '=', 'r.tenantId').onRef('e.id', '=', 'r.environmentId'),
    )
    .where('r.tenantId', '=', tenantId);

const COLUMNS = [
  'r.id',
  'p.identifier as repositoryIdentifier',
  'r.targetType',
  'o.tag as poolTag',
  'o.type as poolType',
  'e.name as environmentName',
  'r.branchPattern',
  'r.domainPatterns',
  'r.priority',
  'r.description',
  'r.isActive',
  'r.createdAt',
  'r.updatedAt',
  'r.createdBy',
  'r.updatedBy',
  'r.version',
] as const;

export const findReviewRule = ({ db, tenantId }: Reads, id: string) =>
  rulesWithTargets(db, tenantId).where('r.id', '=', id).select(COLUMNS).executeTakeFirst();
export type ReviewRuleRow = NonNullable<Awaited<ReturnType<typeof findReviewRule>>>;

/** Throws `not_found`. */
export async function reviewRule(reads: Reads, id: string): Promise<ReviewRuleRow> {
  const rule = await findReviewRule(reads, id);
  if (!rule) throw notFound('The rule');
  return rule;
}

export interface ReviewRuleFilter {
  projectId?: string | undefined;
  poolTag?: string | undefined;
  targetType?: ReviewTargetType | undefined;
  isActive?: boolean | undefined;
  /** Part of the pattern. */
  branchPattern?: string | undefined;
  /** Part of one of the patterns. */
  domainPattern?: string | undefined;
}

/** Rules by priority, the highest first; of equal ones the older first. */
export async function listReviewRules(
  { db, tenantId }: Reads,
  { projectId, poolTag, targetType, isActive, branchPattern, domainPattern }: ReviewRuleFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: ReviewRuleRow[]; total: number }> {
  let rules = rulesWithTargets(db, tenantId);
  if (projectId !== undefined) rules = rules.where('r.projectId', '=', projectId);
  if (poolTag !== undefined) rules = rules.where('o.tag', '=', poolTag);
  if (targetType !== undefined) rules = rules.where('r.targetType', '=', targetType);
  if (isActive !== undefined) rules = rules.where('r.isActive', '=', isActive);
  if (branchPattern !== undefined)
    rules = rules.where(({ eb, fn }) => eb(fn<number>('strpos', ['r.branchPattern', sql`${branchPattern}`]), '>', 0));
  if (domainPattern !== undefined)
    rules = rules.where(
      sql<boolean>`exists (select from jsonb_array_elements_text(r.domain_patterns) d where strpos(d, ${domainPattern}) > 0)`,
    );
  const [items, { total }] = await Promise.all([
    rules
      .orderBy('r.priority', 'desc')
      .orderBy('r.id')
      .limit(sql.lit(limit))
      .offset(sql.lit(offset))
      .select(COLUMNS)
      .execute(),
    rules.select(sql<number>`count(*)::int`.as('total')).executeTakeFirstOrThrow(),
  ]);
  return { items, total };
}

const TO_COMPARE = statement<{ tenantId: string; projectId: string }>()((db, { tenantId, projectId }) =>
  db
    .selectFrom('review_rule')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .orderBy('id')
    .select(['id', 'branchPattern', 'domainPatterns', 'priority', 'isActive']),
);

/** What decides of each rule of a project, the oldest first. */
export const rulesToCompare = ({ db, tenantId }: Reads, projectId: string): Promise<MatchedRule[]> =>
  TO_COMPARE(db, { tenantId, projectId });

const REVISION = statement<{ tenantId: string; projectId: string }>()((db, { tenantId, projectId }) =>
  db
    .selectFrom('review_rule')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .select(sql<string>`concat_ws('/', count(*), sum(version), max(updated_at))`.as('revision')),
);

/** Changes whenever a rule of the project does. */
export async function ruleSetRevision({ db, tenantId }: Reads, projectId: string): Promise<string> {
  const [row] = await REVISION(db, { tenantId, projectId });
  return row?.revision ?? '';
}

interface MatchedRules {
  matches: RuleMatch<ReviewRuleRow>[];
  /** How many match, shown or not. */
  total: number;
  mismatches: { ruleId: string; reason: Mismatch }[];
}

/** Rules of a project that match, best first, and why the others do not. @param shown how many of those that match. */
export async function matchedRules(
  { db, tenantId }: Reads,
  rulesOf: RuleCache,
  projectId: string,
  asked: AskedPlace,
  shown = REVIEW_RULES_MAX,
): Promise<MatchedRules> {
  const compared = matchRules(await rulesOf({ db, tenantId }, projectId), asked);
  const matches = compared.matches.slice(0, shown);
  const ids = matches.map(({ rule }) => rule.id);
  const rules = ids.length === 0 ? [] : await rulesByIds({ db, tenantId }, ids);
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  return {
    matches: matches.flatMap(({ rule: { id }, ...scores }) => {
      const rule = byId.get(id);
      return rule ? [{ rule, ...scores }] : [];
    }),
    total: compared.matches.length,
    mismatches: compared.mismatches.map(({ rule, reason }) => ({ ruleId: rule.id, reason })),
  };
}

const rulesByIds = ({ db, tenantId }: Reads, ids: readonly string[]) =>
  rulesWithTargets(db, tenantId).where('r.id', '=', sql<string>`any (${ids}::uuid[])`).select(COLUMNS).execute();

export async function countReviewRules({ db, tenantId }: Reads, projectId: string): Promise<number> {
  const { count } = await db
    .selectFrom('review_rule')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .select(sql<number>`count(*)::int`.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Whether another rule of the project has the same patterns and target. */
export async function hasLikeRule(
  { db, tenantId }: Reads,
  { id, projectId, likeness }: { id: string; projectId: string; likeness: string },
): Promise<boolean> {
  const like = await db
    .selectFrom('review_rule')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('likeness', '=', likeness)
    .where('id', '<>', id)
    .select('id')
    .executeTakeFirst();
  return like !== undefined;
}
