import { problemOf } from '../../../api/http/problems.ts';
import { DomainError } from '../../../domain/shared/errors.ts';

/** An error as the driver throws it, perhaps wrapped by the ORM. */
const thrown = (code: string) =>
  new Error('wrapped', { cause: Object.assign(new Error('select secret from somewhere'), { code }) });

test.each([
  ['a statement that was cancelled for its time', '57014', 503, 'unavailable'],
  ['a database that shuts down', '57P01', 503, 'unavailable'],
  ['a connection that is refused', 'ECONNREFUSED', 503, 'unavailable'],
  ['two requests that met', '40P01', 503, 'unavailable'],
  ['the same thing made twice', '23505', 409, 'already_exists'],
  ['a value that no column takes', '22P05', 400, 'invalid_request'],
  ['a mistake of ours', '42601', 500, 'internal'],
])('%s: %s is %i', (_, sqlState, status, code) => {
  const { body, headers } = problemOf(thrown(sqlState), '/api/x', 'r1');
  expect(body).toMatchObject({ status, code, instance: '/api/x', requestId: 'r1' });
  expect(JSON.stringify(body)).not.toContain('secret');
  expect('Retry-After' in headers).toBe(status === 503);
});

test('members of an error never stand for what every problem has', () => {
  const members = { status: 'armed', code: 'x', scenario: 'one' } as Record<string, unknown>;
  const { body } = problemOf(new DomainError('locked', 'It is locked', { members }), '/api/x', 'r1');
  expect(body).toMatchObject({ status: 409, code: 'locked', scenario: 'one' });
});
