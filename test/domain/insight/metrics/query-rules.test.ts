import { threadCpuMs } from '../../../support/thread-cpu.ts';
import {
  checkInstantQuery,
  checkLabelName,
  checkLabels,
  checkRangeQuery,
  checkSeries,
} from '../../../../domain/insight/metrics/query-rules.ts';

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
  [
    { step: '1e-300', end: '1000' },
    'invalid parameter "step": zero or negative query resolution step widths are not accepted. Try a positive integer',
  ],
  [{ step: '1e30' }, 'invalid parameter "step": cannot parse "1e30" to a valid duration'],
  [{ step: '999999y' }, 'invalid parameter "step": cannot parse "999999y" to a valid duration'],
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

test('times are given to the store as it can read them', () => {
  expect(checkRangeQuery({ ...range, start: '1e-10', step: '1.5' })).toMatchObject({
    parameters: [
      ['query', 'x'],
      ['start', '0'],
      ['end', '2000'],
      ['step', '1500ms'],
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

test('the time to see that a selector is empty does not grow with the ways to read it', () => {
  const query = (gaps: number) => ({ 'match[]': [`{${'a=""'.repeat(gaps)}{a="`], start: '1', end: '2' });
  const few = threadCpuMs(() => checkSeries(query(10)));
  const many = threadCpuMs(() => checkSeries(query(2_000)));
  expect(many).toBeLessThan(few + 20);
  expect(checkSeries({ 'match[]': ['{a="", b=~".*",}'] })).toEqual(
    bad('invalid parameter "match[]": match[] must contain at least one non-empty matcher'),
  );
  expect(checkSeries({ 'match[]': ['{a="", b="x,y"}'] })).not.toHaveProperty('errorType');
});
