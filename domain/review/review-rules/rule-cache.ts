import { LRUCache } from 'lru-cache';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { MatchedRule } from './review-match-rules.ts';
import { rulesToCompare, ruleSetRevision } from './review-rules.queries.ts';

/** What decides of each rule of a project, the oldest first. It is kept in memory, and read anew when a rule has changed. */
export type RuleCache = (reads: Reads, projectId: string) => Promise<readonly MatchedRule[]>;

/** How many rules a process keeps: those of the projects used most recently. */
const RULES_KEPT = 50_000;

export function createRuleCache(): RuleCache {
  const kept = new LRUCache<string, { revision: string; rules: readonly MatchedRule[] }>({
    maxSize: RULES_KEPT,
    sizeCalculation: ({ rules }) => Math.max(1, rules.length),
  });
  return async (reads, projectId) => {
    const key = `${reads.tenantId}/${projectId}`;
    // Before the rules: what changes in between is read once more.
    const revision = await ruleSetRevision(reads, projectId);
    const found = kept.get(key);
    if (found?.revision === revision) return found.rules;
    const rules = await rulesToCompare(reads, projectId);
    kept.set(key, { revision, rules });
    return rules;
  };
}
