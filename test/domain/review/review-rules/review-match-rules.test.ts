import {
  domainSet,
  type MatchedRule,
  matchRules,
  patternProblem,
  patternScore,
} from '../../../../domain/review/review-rules/review-match-rules.ts';
import { threadCpuMs } from '../../../support/thread-cpu.ts';

let made = 0;
const rule = (given: Partial<MatchedRule>): MatchedRule => ({
  id: `r${++made}`,
  branchPattern: '*',
  domainPatterns: [],
  priority: 0,
  isActive: true,
  ...given,
});

test.each(['main', '*', 'feature/*', '*-fix', 'a', 'releases/2026.03', '?', '[a-z]', 'a.b+', '日本*'])(
  '%s is a pattern',
  (pattern) => expect(patternProblem(pattern)).toBeUndefined(),
);

test.each(['**', '*a*', 'a*b', '***', 'feature/**', '**/x', '*/*', '* *'])('%s is none', (pattern) =>
  expect(patternProblem(pattern)).toMatch(/one star/),
);

test.each([
  ['main', 'main', 100],
  ['main', 'Main', -1],
  ['main', 'mainline', -1],
  ['*', 'main', 1],
  ['*', 'feature/a/b', 1],
  ['feature/*', 'feature/a', 58],
  ['feature/*', 'feature/a/b/c', 58],
  ['feature/*', 'feature/', 58],
  ['feature/*', 'feature', -1],
  ['feature/*', 'Feature/a', -1],
  ['*-fix', 'a/b-fix', 54],
  ['*-fix', '-fix', 54],
  ['*-fix', 'fix', -1],
  ['*-fix', 'a-fixed', -1],
  ['a.c', 'abc', -1],
  ['.*', '.x', 51],
  [`${'x'.repeat(49)}*`, 'x'.repeat(60), 99],
  [`${'x'.repeat(254)}*`, 'x'.repeat(254), 99],
  [`*${'x'.repeat(254)}`, 'x'.repeat(253), -1],
  ['*', '*', 1],
])('%s scores %s by %d', (pattern, name, score) => expect(patternScore(pattern, name)).toBe(score));

test('the total is priority × 1000 and both scores; of equal rules the older is better', () => {
  const [any, exact, prefix, twin, first] = [
    rule({}),
    rule({ branchPattern: 'feature/a' }),
    rule({ branchPattern: 'feature/*', domainPatterns: ['sales'] }),
    rule({ branchPattern: 'feature/*', domainPatterns: ['sales', 'service'] }),
    rule({ priority: 1 }),
  ];
  const { matches } = matchRules([any, exact, prefix, twin, first], { branch: 'feature/a', domains: ['sales'] });
  expect(
    matches.map(({ rule: { id }, branchScore, domainScore, totalScore }) => [id, branchScore, domainScore, totalScore]),
  ).toEqual([
    [first.id, 1, 0, 1_001],
    [prefix.id, 58, 100, 158],
    [twin.id, 58, 100, 158],
    [exact.id, 100, 0, 100],
    [any.id, 1, 0, 1],
  ]);
});

test('a negative priority comes last although its pattern is exact', () => {
  const [low, any] = [rule({ branchPattern: 'main', priority: -1 }), rule({})];
  const { matches } = matchRules([low, any], { branch: 'main', domains: [] });
  expect(matches.map(({ totalScore }) => totalScore)).toEqual([1, -900]);
});

test('the best of the patterns of domains counts', () => {
  const many = rule({ domainPatterns: ['*', 'sa*', 'sales', '*es'] });
  const scoreOf = (...domains: string[]) => matchRules([many], { branch: 'main', domains }).matches[0]?.domainScore;
  expect([scoreOf('sales'), scoreOf('sap'), scoreOf('trees'), scoreOf('x'), scoreOf('x', 'sap')]).toEqual([
    100, 52, 52, 1, 52,
  ]);
});

test('without a domain only rules for all domains match; without a branch only those for all branches', () => {
  const rules = [
    rule({}),
    rule({ domainPatterns: ['*'] }),
    rule({ domainPatterns: ['sales'] }),
    rule({ domainPatterns: ['s*', '*'] }),
    rule({ branchPattern: 'main' }),
  ];
  const matched = (branch?: string) =>
    matchRules(rules, { branch, domains: [] }).matches.map(({ rule: matching, totalScore }) => [
      rules.indexOf(matching),
      totalScore,
    ]);
  expect(matched('main')).toEqual([
    [4, 100],
    [1, 2],
    [3, 2],
    [0, 1],
  ]);
  expect(matched()).toEqual([
    [1, 2],
    [3, 2],
    [0, 1],
  ]);
});

test('each rule that does not match has the first reason', () => {
  const rules = [
    rule({ isActive: false, branchPattern: 'x' }),
    rule({ branchPattern: 'x', domainPatterns: ['x'] }),
    rule({ domainPatterns: ['x'] }),
  ];
  const { matches, mismatches } = matchRules(rules, { branch: 'main', domains: ['sales'] });
  expect(matches).toEqual([]);
  expect(mismatches.map(({ reason }) => reason)).toEqual(['inactive', 'branch', 'domain']);
});

test('domains are a set', () => expect(domainSet(['b', 'a', 'b'])).toEqual(['a', 'b']));

test('2,000 rules of hostile patterns are compared within a millisecond or two', () => {
  const rules = Array.from({ length: 2_000 }, (_, n) =>
    rule({ branchPattern: `${'a'.repeat(200)}${n}*`, domainPatterns: [`*${'b'.repeat(200)}${n}`, 'sales'] }),
  );
  const asked = { branch: 'a'.repeat(255), domains: ['b'.repeat(255)] };
  matchRules(rules, asked);
  const cpuMs = threadCpuMs(() => {
    for (let round = 0; round < 10; round++) matchRules(rules, asked);
  });
  expect(cpuMs / 10).toBeLessThan(20);
});
