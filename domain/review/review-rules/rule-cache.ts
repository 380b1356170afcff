import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { MatchedRule } from './review-match-rules.ts';
import { rulesToCompare, ruleSetRevision } from './review-rules.queries.ts';

/** What decides of each rule of a project, the oldest first. It is kept in memory, and read anew when a rule has changed. */
export type RuleCache = (reads: Reads, projectId: string) => Promise<readonly MatchedRule[]>;

/** How many rules a process keeps: those of the projects used most recently. */
const RULES_KEPT = 50_000;

export function createRuleCache(): RuleCache {
  const kept = new Map<string, { revision: string; rules: readonly MatchedRule[] }>();
  let count = 0;
  const forget = (key: string) => {
    count -= kept.get(key)?.rules.length ?? 0;
    kept.delete(key);
  };
  return async (reads, projectId) => {
    const key = `${reads.tenantId}/${projectId}`;
    // Before the rules: what changes in between is read once more.
    const revision = await ruleSetRevision(reads, projectId);
    const found = kept.get(key);
    const rules = found?.revision === revision ? found.rules : await rulesToCompare(reads, projectId);
    forget(key);
    kept.set(key, { revision, rules });
    count += rules.length;
    for (const oldest of kept.keys()) {
      if (count <= RULES_KEPT) break;
      forget(oldest);
    }
    return rules;
  };
}
