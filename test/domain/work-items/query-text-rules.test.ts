import fc from 'fast-check';
import { jqlText, wiqlText } from '../../../domain/work-items/query-text-rules.ts';
import { parseJql } from '../../simulators/trackers/jql.ts';
import { parseWiql } from '../../simulators/trackers/wiql.ts';

const HOSTILE = [
  '" OR project = "SECRET',
  String.raw`\" OR project = \"SECRET`,
  '\\',
  "' OR [System.TeamProject] <> '",
  "''",
  '(",")',
  'a\nORDER BY created',
  'a\u0000b',
];

const conditionOf = (text: string) =>
  parseWiql(
    `SELECT [System.Id] FROM WorkItems WHERE [System.State] = ${wiqlText(text)} ORDER BY [System.ChangedDate] DESC`,
    {},
  );

test.each(HOSTILE)('the text %j stays one value in JQL and WIQL', (text) => {
  const plain = text.replaceAll(/\p{Cc}/gu, ' ');
  expect(parseJql(`status = ${jqlText(text)} ORDER BY updated DESC`)).toEqual({
    clauses: [{ field: 'status', operator: '=', values: [plain] }],
    isByUpdate: true,
  });
  expect(conditionOf(text).matches({ 'System.State': plain })).toBe(true);
  expect(conditionOf(text).matches({ 'System.State': 'another' })).toBe(false);
});

test('any text stays one value', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const plain = text.replaceAll(/\p{Cc}/gu, ' ');
      expect(parseJql(`status = ${jqlText(text)}`).clauses[0]?.values).toEqual([plain]);
      expect(conditionOf(text).matches({ 'System.State': plain })).toBe(true);
    }),
    { numRuns: 500 },
  );
});
