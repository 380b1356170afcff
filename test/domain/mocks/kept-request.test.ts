import { calledRequest } from '../../../domain/mocks/serving/called-request.ts';
import { withPatternWork } from '../../../domain/events/webhooks/pattern-work.ts';
import { compileStep } from '../../../domain/mocks/scenarios/compile-step.ts';
import { keptRequest } from '../../../domain/mocks/kept-request.ts';
import { mockRequest } from '../../../domain/mocks/serving/mock-request.ts';
import type { StepRequest } from '../../../domain/mocks/scenarios/step-rules.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

/** What a step says of a request, and of what the journal keeps of it. */
function verdicts(request: Partial<StepRequest>, body: string, headers: Record<string, string> = {}, target = '/') {
  const { judge } = compileStep({
    seq: 1,
    request: { method: '*', path: '/**', ...request },
    response: { status: 200 },
    times: null,
  });
  const called = mockRequest('POST', target, headers, Buffer.from(body));
  const noted = keptRequest({ method: called.method, path: called.path, request: calledRequest(called) });
  return [judge(called, {}), judge(noted, {})];
}

const check = (is: unknown, of: 'body' | 'query' | 'headers' = 'body', name?: string) => ({
  checks: [{ of, is, ...(name !== undefined && { name }) }],
});
const order = '{"id": 7, "lines": [{"sku": "a"}], "password": "hunter2"}';

test.each([
  ['JSON', { body: { id: 7 } }, order, JSON_TYPE],
  ['JSON that differs', { body: { id: 8 } }, order, JSON_TYPE],
  ['a path in JSON', check({ jsonPath: '$.lines[*].sku', is: { eq: 'a' } }), order, JSON_TYPE],
  ['a path that finds nothing', check({ jsonPath: '$.none', none: true }), order, JSON_TYPE],
  ['equal JSON', check({ json: { id: 7 }, extra: true }), order, JSON_TYPE],
  ['JSON is no XML', check({ xml: '<a/>' }), order, JSON_TYPE],
  ['a form', { body: { a: '1' } }, 'a=1&b=2', FORM_TYPE],
  ['a text', check({ contains: 'ell' }), 'hello', {}],
  ['a JSON text without its type', { body: { a: 1 } }, '{"a":1}', {}],
  ['JSON that PostgreSQL does not hold', { body: { id: 7 } }, '{"id":7,"a":"\\u0000"}', JSON_TYPE],
  ['a string of JSON', check({ json: 'abc' }), '"abc"', JSON_TYPE],
  ['XML', check({ xml: '<a><b/></a>' }), '<a> <b></b> </a>', {}],
  ['no body', check({ eq: '' }), '', {}],
] as const)('a noted call is judged as the call was: %s', (_what, request, body, headers) => {
  const [called, noted] = verdicts(request, body, headers);
  expect(noted).toBe(called);
});

test.each([
  ['a long body', { body: { a: 1 } }, `{"a":1,"b":"${'x'.repeat(9_000)}"}`, JSON_TYPE],
  ['a long text', check({ not: { contains: 'b' } }), 'a'.repeat(9_000), {}],
  ['how JSON was written', check({ contains: '"id": 7' }), order, JSON_TYPE],
  ['how a form was written', check({ eq: 'a=1' }), 'a=1', FORM_TYPE],
  ['a secret of a body', { body: { password: { ne: 'other' } } }, order, JSON_TYPE],
  ['a secret that a path finds', check({ jsonPath: '$.password', is: { eq: 'hunter2' } }), order, JSON_TYPE],
  ['a secret header', { headers: { authorization: { ne: 'x' } } }, '', { authorization: 'Bearer y' }],
  ['the end of a long header', { headers: { 'x-long': 'a'.repeat(2_000) } }, '', { 'x-long': 'a'.repeat(2_000) }],
] as const)('what is not kept is not judged: %s', (_what, request, body, headers) => {
  const [called, noted] = verdicts(request, body, headers);
  expect(called).toBe(true);
  expect(noted).toBe('NOT_KEPT');
});

test('a call that fails in what is kept fails, whatever is not known of it', () => {
  expect(verdicts({ ...check({ contains: 'a' }), query: { a: '2' } }, 'a'.repeat(9_000), {}, '/?a=1')).toEqual([
    false,
    false,
  ]);
});

test('of a call to another path nothing else is judged', () => {
  const { judge } = compileStep({
    seq: 1,
    request: { method: 'POST', path: '/orders', ...check({ contains: 'b' }) },
    response: { status: 200 },
    times: null,
  });
  const called = mockRequest('POST', '/', {}, Buffer.from('a'.repeat(1_000)));
  expect(withPatternWork(100, () => judge(called, {}))).toBe(false);
});
