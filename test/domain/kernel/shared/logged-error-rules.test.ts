import { loggedError, reasonOf } from '../../../../domain/kernel/shared/logged-error-rules.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED', secret: 'x' });

test('an error is logged with what its causes add and where it was thrown, and with no other member', () => {
  const error = new Error('Not stored', { cause: refused });
  error.stack =
    'Error: Not stored\n at a (/app/node_modules/domain/x.ts:1:2)\n at b (file:///app/domain/a/b-c.queries.ts:31:5)';
  expect(loggedError(error, { hasStack: false })).toEqual({
    type: 'Error',
    message: 'Not stored: connect ECONNREFUSED 127.0.0.1:5432',
    code: 'ECONNREFUSED',
    at: 'domain/a/b-c.queries.ts:31',
  });
  const { stack = '' } = loggedError(error, { hasStack: true });
  expect(stack).toContain('caused by: Error: connect ECONNREFUSED');
});

test.each([
  [new Error('outer: inner', { cause: new Error('inner') }), 'outer: inner'],
  [new AggregateError([refused], ''), 'AggregateError: connect ECONNREFUSED 127.0.0.1:5432'],
  ['only text', 'only text'],
])('%p', (error, expected) => {
  expect(reasonOf(error)).toBe(expected);
});

test('what is no error is logged as text, and circular causes end', () => {
  expect(loggedError('only text', { hasStack: false })).toEqual({ type: 'string', message: 'only text' });
  const error = new Error('round');
  error.cause = error;
  expect(reasonOf(error)).toBe('round');
});
