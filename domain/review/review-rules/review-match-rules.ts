/** The longest pattern of a branch or domain. */
export const PATTERN_MAX = 255;
export const DOMAIN_PATTERNS_MAX = 50;
export const PRIORITY_MAX = 1_000;

const STAR = '*';
const STAR_CODE = 0x2a;
const EXACT = 100;
const PARTIAL = 50;
/** So that a partial match never reaches an exact one. */
const LITERAL_MAX = 49;
const ANY = 1;
const PRIORITY_WEIGHT = 1_000;
/** What does not match. */
const NONE = -1;

/** Why a pattern is none; undefined: it is one. Patterns are a literal, `*`, `text*` and `*text`; stars cross slashes. */
export function patternProblem(pattern: string): string | undefined {
  const star = pattern.indexOf(STAR);
  const isAllowed = star === -1 || (star === pattern.lastIndexOf(STAR) && (star === 0 || star === pattern.length - 1));
  return isAllowed
    ? undefined
    : `the pattern ${pattern} must be a literal, \`*\`, \`text*\` or \`*text\`: one star, at the beginning or the end`;
}

/** How closely a pattern matches a name: exact 100, prefix or suffix 50 and its literal characters (up to 49), `*` 1; else -1. */
export function patternScore(pattern: string, name: string): number {
  if (pattern === STAR) return ANY;
  const literal = pattern.length - 1;
  if (pattern.charCodeAt(literal) === STAR_CODE) return partialScore(pattern, 0, name, 0, literal);
  if (pattern.charCodeAt(0) === STAR_CODE) return partialScore(pattern, 1, name, name.length - literal, literal);
  return pattern === name ? EXACT : NONE;
}

/** By characters: to cut the literal out of each pattern of thousands would cost more than the comparison. */
function partialScore(pattern: string, from: number, name: string, at: number, literal: number): number {
  if (name.length < literal) return NONE;
  for (let index = 0; index < literal; index++)
    if (pattern.charCodeAt(from + index) !== name.charCodeAt(at + index)) return NONE;
  return PARTIAL + Math.min(literal, LITERAL_MAX);
}

/** Without a name, only what matches all of them. */
const scoreOfAny = (pattern: string): number => (pattern === STAR ? ANY : NONE);

/** The best of the scores of all patterns for all names; 0 without patterns, which matches any; -1: no match. */
function bestScore(patterns: readonly string[], names: readonly string[]): number {
  if (patterns.length === 0) return 0;
  if (names.length === 0) return Math.max(...patterns.map(scoreOfAny));
  let best = NONE;
  for (const pattern of patterns) {
    for (const name of names) {
      const score = patternScore(pattern, name);
      if (score > best) best = score;
    }
  }
  return best;
}

/** What decides whether a rule matches. */
export interface MatchedRule {
  id: string;
  branchPattern: string;
  domainPatterns: readonly string[];
  priority: number;
  isActive: boolean;
}

export interface RuleMatch<R> {
  rule: R;
  branchScore: number;
  domainScore: number;
  /** Priority × 1000 + branch score + domain score. */
  totalScore: number;
}

export const MISMATCHES = ['inactive', 'branch', 'domain'] as const;
/** Why a rule does not match: the first of these. */
export type Mismatch = (typeof MISMATCHES)[number];

export interface AskedPlace {
  /** Absent: only rules for all branches match. */
  branch?: string | undefined;
  /** None: only rules without domains, and rules for all of them, match. */
  domains: readonly string[];
}

/**
 * The rules that match, best first; of equal ones the first given. Beside them, why the others do not.
 * @param rules the oldest first.
 */
export function matchRules<R extends MatchedRule>(
  rules: readonly R[],
  { branch, domains }: AskedPlace,
): { matches: RuleMatch<R>[]; mismatches: { rule: R; reason: Mismatch }[] } {
  const matches: RuleMatch<R>[] = [];
  const mismatches: { rule: R; reason: Mismatch }[] = [];
  for (const rule of rules) {
    if (!rule.isActive) {
      mismatches.push({ rule, reason: 'inactive' });
      continue;
    }
    const branchScore =
      branch === undefined ? scoreOfAny(rule.branchPattern) : patternScore(rule.branchPattern, branch);
    const domainScore = branchScore === NONE ? NONE : bestScore(rule.domainPatterns, domains);
    if (domainScore === NONE) mismatches.push({ rule, reason: branchScore === NONE ? 'branch' : 'domain' });
    else {
      const totalScore = rule.priority * PRIORITY_WEIGHT + branchScore + domainScore;
      matches.push({ rule, branchScore, domainScore, totalScore });
    }
  }
  // The sort is stable, so that of equal rules the older one comes first.
  return { matches: matches.toSorted((a, b) => b.totalScore - a.totalScore), mismatches };
}

/** Patterns of domains as they are kept: sorted, each once. */
export const domainSet = (patterns: readonly string[]): string[] => [...new Set(patterns)].toSorted();
