import { ExpressionError, tokensOf } from '../../../../domain/insight/metrics/expression-token-rules.ts';
import { withStoredNames } from '../../../../domain/insight/metrics/query-name-rules.ts';
import { threadCpuMs } from '../../../support/thread-cpu.ts';

const stored = (expression: string) =>
  withStoredNames(tokensOf(expression))
    .map(({ text }) => text)
    .join('');

test.each([
  ['deploy.count', 'deploy_count'],
  ['sum by (org.name) (rate(deploy.duration_sum[1.5h]))', 'sum by (org_name) (rate(deploy_duration_sum[1.5h]))'],
  ['deploy.count > 1.5', 'deploy_count > 1.5'],
  ['deploy.count * .5 + 1e-3 + 0x1F', 'deploy_count * .5 + 1e-3 + 0x1F'],
  ['deploy.count offset 1.5d @ 1.5', 'deploy_count offset 1.5d @ 1.5'],
  ['{__name__="deploy.count"}', '{__name__="deploy_count"}'],
  ["{ __name__ = 'deploy.count' }", "{ __name__ = 'deploy_count' }"],
  ['{__name__!="deploy.count"}', '{__name__!="deploy.count"}'],
  ['{__name__=~"deploy.*"}', '{__name__=~"deploy.*"}'],
  ['{"deploy.count", org="u.a.t"}', '{"deploy_count", org="u.a.t"}'],
  ['{org="u.a.t", "deploy.count"}', '{org="u.a.t", "deploy_count"}'],
  ['{"a.b" or "c.d", or="e.f"}', '{"a_b" or "c_d", or="e.f"}'],
  ['{x="a.b" OR "c.d"}', '{x="a.b" OR "c_d"}'],
  ['x.y{a.b="c.d", e=~"f.g"}', 'x_y{a_b="c.d", e=~"f.g"}'],
  ['label_replace(a.b, "x", "$1.$2", "y", "(.*)")', 'label_replace(a_b, "x", "$1.$2", "y", "(.*)")'],
  ['a.b # c.d\n + e.f', 'a_b # c.d\n + e_f'],
  ['a\\.b', 'a_b'],
  ['`a.b`', '`a.b`'],
  ['`a\\`b.c`', '`a\\`b.c`'],
  ['größe.x', 'gr__e_x'],
  ['rate(x.y[1h:1.5m])', 'rate(x_y[1h:1.5m])'],
  ['a.b[$__interval] + 1.5Ki + 0b101', 'a_b[$__interval] + 1.5Ki + 0b101'],
  ['{"a\\".b"}', '{"a\\".b"}'],
  ['', ''],
])('%s becomes %s', (given, expected) => {
  expect(stored(given)).toBe(expected);
});

test.each(['"a.b', "'a\\'", '`a\\`', 'a;b', 'a\u00a0b', '1label_set(x)', '5mlabel_set(x)', 'a$', 'a|b', '\0'])(
  'what the store might read otherwise is refused: %j',
  (given) => {
    expect(() => tokensOf(given)).toThrow(ExpressionError);
  },
);

test('an expression of 16 KB takes no time, whatever it is', () => {
  const read = (text: string) => {
    try {
      stored(text);
    } catch (error) {
      expect(error).toBeInstanceOf(ExpressionError);
    }
  };
  for (const text of ['{', '"', '\\', 'a.', '#', '{"', '.1', "'\\", '1', '1e', '$a', '(', '`\\'])
    expect(threadCpuMs(() => read(text.repeat(16_384 / text.length)))).toBeLessThan(200);
});
