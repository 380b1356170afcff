import { Problem } from '../../../api/http/openapi/problem-schema.ts';
import { problemOf } from '../../../api/http/problems.ts';
import { DomainError, type ProblemMembers, RESERVED_MEMBERS } from '../../../domain/kernel/shared/errors.ts';

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
  const given = Object.fromEntries(RESERVED_MEMBERS.map((name) => [name, 'of the error']));
  const members = { ...given, scenario: 'one' } as ProblemMembers;
  const { body } = problemOf(new DomainError('locked', 'It is locked', { members }), '/api/x', 'r1');
  expect(body).toMatchObject({ status: 409, code: 'locked', scenario: 'one' });
  expect(Object.values(body)).not.toContain('of the error');
});

test('every member that a problem may have stands in its schema, with its type', () => {
  const members: Required<ProblemMembers> = {
    success: false,
    error: 'It is locked',
    providerDetails: { queued: false, notFound: true },
    currentVersion: null,
    results: [{ collection: 'packages', key: 'a', status: 409, error: { code: 'locked', detail: 'It is locked' } }],
    tenants: ['acme'],
    candidates: [{ username: 'admin@acme.example.uat', sandboxName: 'uat', productionUsername: null }],
    secondFactor: 'totp',
    nextWindowAt: '2026-03-02T09:30:00.000Z',
    hold: { source: 'person', reason: 'wait', until: null, environmentName: null },
    copyStatus: 'Processing',
    copyProgress: 43,
    hint: 'Try again later.',
    platformCode: 'invalid_grant',
    scenario: 'checkout',
    scenarioStatus: 'armed',
    nearest: null,
  };
  const fields = Array.from({ length: 12 }, () => ({ pointer: '#/body/a', detail: 'is wrong' }));
  const { body } = problemOf(new DomainError('locked', 'It is locked', { members, fields }), '/api/x', 'r1');
  expect(Object.keys(body).filter((name) => !(name in Problem.shape))).toEqual([]);
  expect(Problem.parse(body)).toEqual(body);
});
