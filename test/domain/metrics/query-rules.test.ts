import { cleanedAnswer, troubleOf, withResult } from '../../../domain/metrics/answer-rules.ts';
import { wholeAnswer } from '../../../domain/metrics/ask-metrics.ts';
import {
  checkInstantQuery,
  checkLabelName,
  checkLabels,
  checkRangeQuery,
  checkSeries,
} from '../../../domain/metrics/query-rules.ts';

const bad = (error: string) => ({ errorType: 'bad_data', error });
const range = { query: 'x', start: '1000', end: '2000', step: '10' };

// The texts were measured at Prometheus.
test.each([
  [{}, 'invalid parameter "query": 1:1: parse error: no expression found in input'],
  [
    { query: 'x', time: 'x' },
    `invalid parameter "time": Invalid time value for 'time': cannot parse "x" to a valid timestamp`,
  ],
  [{ query: 'x', timeout: 'xx' }, 'invalid parameter "timeout": cannot parse "xx" to a valid duration'],
  [{ query: 'x'.repeat(16_385) }, 'invalid parameter "query": must not be longer than 16384 bytes'],
])('an instant query %j is refused', (input, error) => {
  expect(checkInstantQuery(input)).toEqual(bad(error));
});

test.each([
  [
    { step: '0' },
    'invalid parameter "step": zero or negative query resolution step widths are not accepted. Try a positive integer',
  ],
  [
    { step: '-5' },
    'invalid parameter "step": zero or negative query resolution step widths are not accepted. Try a positive integer',
  ],
  [{ step: '5m1h' }, 'invalid parameter "step": cannot parse "5m1h" to a valid duration'],
  [{ end: '999' }, 'invalid parameter "end": end timestamp must not be before start time'],
  [{ start: '' }, 'invalid parameter "start": cannot parse "" to a valid timestamp'],
  [{ end: '2026-03-02' }, 'invalid parameter "end": cannot parse "2026-03-02" to a valid timestamp'],
  [
    { end: '111010', step: '10' },
    'exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)',
  ],
])('a range query with %j is refused', (input, error) => {
  expect(checkRangeQuery({ ...range, ...input })).toEqual(bad(error));
});

test('what is asked is ours alone, and no more than 30 s', () => {
  const given = {
    query: 'a.b',
    time: '2026-03-02T09:30:00.5Z',
    timeout: '1h',
    extra_label: 'x=y',
    'extra_filters[]': '{}',
  };
  expect(checkInstantQuery(given)).toEqual({
    parameters: [
      ['query', 'a_b'],
      ['time', '1772443800.5'],
    ],
    timeoutMs: 30_000,
  });
  expect(checkInstantQuery({ query: ['x', 'y'], timeout: '1s500ms' }, 1_772_443_800_500)).toEqual({
    parameters: [
      ['query', 'x'],
      ['time', '1772443800.5'],
    ],
    timeoutMs: 1_500,
  });
  expect(checkRangeQuery({ ...range, end: '111000', step: '1m' })).toMatchObject({
    parameters: [
      ['query', 'x'],
      ['start', '1000'],
      ['end', '111000'],
      ['step', '60000ms'],
    ],
  });
});

test('labels of all retention, unless a start is given', () => {
  expect(checkLabels({})).toMatchObject({ parameters: [['start', '1']] });
  expect(checkLabels({ 'match[]': ['a.b', '{__name__="c.d"}'], start: '5', end: '6' })).toMatchObject({
    parameters: [
      ['match[]', 'a_b'],
      ['match[]', '{__name__="c_d"}'],
      ['start', '5'],
      ['end', '6'],
    ],
  });
  expect(checkSeries({})).toEqual(bad('no match[] parameter provided'));
});

test.each(['{}', ' { } ', '{a=""}', '{__name__=~".*"}'])('the selector %s selects everything', (selector) => {
  expect(checkSeries({ 'match[]': selector })).toEqual(
    bad('invalid parameter "match[]": match[] must contain at least one non-empty matcher'),
  );
});

test('a name of a label', () => {
  expect(checkLabelName('bad-name')).toEqual(bad('invalid label name: "bad-name"'));
  expect(checkLabelName('a.b')).toEqual({ name: 'a_b' });
});

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test.each([1, 7, 64, 100_000])(
  'the tenant and what Prometheus has not are taken out, in pieces of %d bytes',
  async (size) => {
    const series = (metric: string) => `{"metric":{${metric}},"value":[1772443800,"3"]}`;
    const around = (items: string[], extra: [string, string]) =>
      `{"status":"success",${extra[0]}"data":{"resultType":"vector","result":[${items.join()}]}${extra[1]}}`;
    const text = '"x":"ü,\\"__tenant_id__\\":\\"t1\\"]}"';
    const given = around(
      [
        series('"__name__":"a","__tenant_id__":"t1","b":"c"'),
        series('"__tenant_id__":"t1"'),
        series('"__tenant_id__":"t\\"1","b":"c"'),
        series('"__tenant_id__":"t}]1","b":"c]"'),
        series(`${text},"__tenant_id__":"t1"`),
      ],
      ['"isPartial":false,', ',"stats":{"seriesFetched": "1","executionTimeMsec":0}'],
    );
    const expected = around(
      [series('"__name__":"a","b":"c"'), series(''), series('"b":"c"'), series('"b":"c]"'), series(text)],
      ['', ''],
    );
    expect((await wholeAnswer(cleanedAnswer(pieces(given, size)))).toString()).toBe(expected);
  },
);

test('the result stands on top, too', () => {
  expect(JSON.parse(withResult('{"status":"success","data":{"resultType":"vector","result":[{"a":1}]}}'))).toEqual({
    status: 'success',
    data: { resultType: 'vector', result: [{ a: 1 }] },
    result: [{ a: 1 }],
  });
  expect(JSON.parse(withResult('{"status":"success","data":["a","b"]}'))).toEqual({
    status: 'success',
    data: ['a', 'b'],
    result: ['a', 'b'],
  });
});

test("the store's refusals are told as Prometheus tells them", () => {
  const refusal = (error: string) => JSON.stringify({ status: 'error', errorType: '400', error });
  const parse = refusal('error when executing query="a_b{\\"" for (time=1795381016000, step=300000): unexpected token');
  expect(troubleOf(400, parse)).toEqual(bad('invalid parameter "query": parse error: unexpected token'));
  expect(troubleOf(422, refusal('too many series'))).toEqual({ errorType: 'execution', error: 'too many series' });
  expect(troubleOf(503, '')).toMatchObject({ errorType: 'timeout' });
  expect(troubleOf(500, 'panic at /secret')).toEqual({
    errorType: 'unavailable',
    error: 'The metrics store is not available',
  });
  expect(troubleOf(422, refusal('filter {__tenant_id__="t1"}')).error).not.toContain('__tenant_id__');
});
