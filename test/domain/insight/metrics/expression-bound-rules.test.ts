import { checkInstantQuery, checkSeries } from '../../../../domain/insight/metrics/query-rules.ts';
import { HOSTILE_QUERIES, long, nested } from '../../../support/hostile-queries.ts';
import { threadCpuMs } from '../../../support/thread-cpu.ts';

const isRefused = (query: string) => 'errorType' in checkInstantQuery({ query });

test.each(HOSTILE_QUERIES)('the store is not asked for %s', (_, query) => {
  expect(isRefused(query)).toBe(true);
});

test.each([
  'sum(rate(deploy.count{org=~"a|b"}[5m])) by (org, metric_type) / on (org) group_left (team) teams',
  'label_replace(x, "host", "$1:$2", "instance", "([^:]+):(.*)")',
  `label_join(x, "all", "-", ${Array.from({ length: 12 }, (_, index) => `"l${index}"`).join(', ')})`,
  'label_set(label_del(label_map(label_copy(x, "a", "b"), "b", "v1", "v2"), "a"), "c", "d")',
  'label_transform(x, "path", "[0-9]+", ":id")',
  `x{org=~"${Array.from({ length: 900 }, (_, index) => `org-${index}`).join('|')}"}`,
  `label_replace(x{org=~"${long(5_000)}"}, "k", "$1", "org", "(.*)")`,
  'x * on (org) group_left (team) prefix "p_" y',
  'topk(5, x, "others=rest") keep_metric_names',
  'quantiles("phi", 0.5, 0.9, x offset -5m @ end())',
  'avg_over_time(rate(x[5m])[1h:1m]) default 0 if y ifnot 1e-3',
  'absent(x{org="uat"}) or vector(1)',
  `x${'+x'.repeat(199)}`,
  nested(49, '(', 'x', ')'),
])('people ask for %s', (query) => {
  expect(checkInstantQuery({ query })).not.toHaveProperty('errorType');
});

test('a selector is bounded, too', () => {
  expect(checkSeries({ 'match[]': '{__tenant_id__="x"}' })).toEqual({
    errorType: 'bad_data',
    error: `invalid parameter "match[]": __tenant_id__ is a label of the service's own`,
  });
});

test('an expression of 16 KB is read in no time, whatever it is', () => {
  for (const text of ['label_set(', '"a"+', '{a="b"},', 'x+', '(),', 'label_join(x,"z","",', ')'])
    expect(threadCpuMs(() => void isRefused(text.repeat(16_384 / text.length)))).toBeLessThan(200);
});
