import { readFindings } from '../../../../domain/insight/ai-reports/findings.ts';

test('escapes of characters that cannot be stored are replaced', () => {
  const answer = String.raw`{"summary":"a\u0000b","risks":[{"text":"c\ud800","severity":"low","facts":["F\u0000"]}],"recommendations":[{"text":"\udc00d \ud83d\ude00","facts":[]}]}`;
  expect(readFindings(answer)).toEqual({
    findings: {
      summary: 'a\uFFFDb',
      risks: [{ text: 'c\uFFFD', severity: 'low', facts: ['F\uFFFD'] }],
      recommendations: [{ text: '\uFFFDd \u{1F600}', facts: [] }],
    },
  });
});
