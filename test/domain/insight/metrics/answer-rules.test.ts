import { troubleOf, withResult } from '../../../../domain/insight/metrics/answer-rules.ts';

const bad = (error: string) => ({ errorType: 'bad_data', error });

const refusal = (error: string) => JSON.stringify({ status: 'error', errorType: '400', error });

const cutInto = (text: string, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    Buffer.from(text.slice(index * size, (index + 1) * size)),
  );
const long = { a: 'x'.repeat(400) };

test.each([1, 7, 300, 10_000])('the result stands on top, too, in pieces of %d bytes', (size) => {
  const onTop = (given: object) =>
    JSON.parse(Buffer.concat([...withResult(cutInto(JSON.stringify(given), size))]).toString()) as unknown;
  for (const result of [[], [{ a: 1 }], [long, long]]) {
    const answer = { status: 'success', data: { resultType: 'vector', result } };
    expect(onTop(answer)).toEqual({ ...answer, result });
  }
  for (const data of [[], ['a', 'b}]'], [long]])
    expect(onTop({ status: 'success', data })).toEqual({ status: 'success', data, result: data });
});

test("the store's refusals are told as Prometheus tells them", () => {
  const parse = refusal('error when executing query="a_b{\\"" for (time=1795381016000, step=300000): unexpected token');
  expect(troubleOf(400, parse)).toEqual(bad('invalid parameter "query": parse error: unexpected token'));
  expect(troubleOf(422, refusal('too many series'))).toEqual({ errorType: 'execution', error: 'too many series' });
  expect(troubleOf(503, '')).toMatchObject({ errorType: 'timeout' });
  expect(troubleOf(429, 'too many')).toMatchObject({ errorType: 'timeout' });
  expect(troubleOf(500, 'panic at /secret')).toEqual({
    errorType: 'unavailable',
    error: 'The metrics store is not available',
  });
  expect(troubleOf(422, refusal('filter {__tenant_id__="t1", a="b"} of __tenant_id__')).error).toBe(
    'filter {…, a="b"} of …',
  );
});

// The texts are those of the store's source.
test.each([
  'timeout exceeded during query execution: 5.000 seconds (elapsed 5.100 seconds); the timeout can be adjusted with `-search.maxQueryDuration` command-line flag',
  'cannot fetch data: timeout exceeded before starting the query processing: 0.010 seconds (elapsed 1.001 seconds)',
  'timeout exceeded while fetching data block #7 from storage: 1.000 seconds (elapsed 2.000 seconds)',
  'error when searching for tag filters: deadline exceeded',
])('a query that took too long is no error of the query: %s', (error) => {
  expect(troubleOf(422, refusal(error))).toMatchObject({ errorType: 'timeout' });
});

test.each([
  [400, 'cannot parse "sum(http_timeout_total": unexpected end'],
  [400, 'timeout exceeded during query execution: 5.000 seconds'],
  [422, 'cannot parse regexp `deadline exceeded`'],
  [422, 'unknown label "timeout exceeded during the query: 5 seconds"'],
  [422, 'the number of matching timeseries is longer than allowed'],
])('a refusal %d with %s is the query, whatever it names', (status, error) => {
  expect(troubleOf(status, refusal(error))).toMatchObject({ errorType: status === 400 ? 'bad_data' : 'execution' });
});
