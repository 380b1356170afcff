import { newestVersion, orgFailure, tokenFailure } from '../../../../domain/orgs/crm/platform-error-rules.ts';
import { currentSandboxes } from '../../../../domain/orgs/crm/sandbox-rules.ts';
import { xmlText } from '../../../../domain/orgs/crm/xml-rules.ts';

test.each([
  [{ status: 401, code: 'INVALID_SESSION_ID' }, 'auth_failed'],
  [{ status: 403, code: 'REQUEST_LIMIT_EXCEEDED' }, 'limited'],
  [{ status: 403 }, 'refused'],
  [{ status: 404, code: 'NOT_FOUND' }, 'not_found'],
  [{ status: 420, code: 'ANYTHING' }, 'auth_failed'],
  [{ status: 400, code: 'NEW_CODE_OF_NEXT_RELEASE' }, 'refused'],
  [{ status: 429 }, 'limited'],
  [{ status: 502 }, 'unreachable'],
  [{ status: 307 }, 'refused'],
  [{ status: 400, code: 'toString' }, 'refused'],
  [{ status: 400, code: '__proto__' }, 'refused'],
])('an org that answers %j: %s', (error, kind) => {
  expect(orgFailure(error)).toMatchObject({ isOk: false, kind, hint: expect.stringMatching(/\.$/) });
});

test.each([
  [{ status: 400, code: 'invalid_grant', message: 'expired access/refresh token' }, 'auth_failed', 'revoked'],
  [{ status: 400, code: 'invalid_grant', message: 'login rate exceeded' }, 'limited', 'wait'],
  [{ status: 400, code: 'invalid_grant', message: 'something new' }, 'auth_failed', 'Sign in'],
  [{ status: 401, code: 'invalid_client' }, 'auth_failed', 'client id'],
  [{ status: 400, code: 'app_not_found' }, 'auth_failed', 'administrator'],
  [{ status: 503, code: 'temporarily_unavailable' }, 'unreachable', 'later'],
  [{ status: 400 }, 'refused', ''],
  [{ status: 429, code: 'rate_limited' }, 'limited', 'wait'],
  [{ status: 429, code: 'invalid_grant' }, 'limited', 'wait'],
  [{ status: 403, code: 'REQUEST_LIMIT_EXCEEDED' }, 'limited', 'wait'],
  [{ status: 408, code: 'timeout' }, 'unreachable', 'later'],
  [{ status: 400, code: 'unknown_error', message: 'retry your request' }, 'unreachable', 'later'],
  [{ status: 400, code: 'invalid_grant', message: 'token request is already being processed' }, 'limited', 'again'],
  [{ status: 401 }, 'malformed', 'proxy'],
  [{ status: 400, code: 'invalid_grant', message: 'Audience validation failed' }, 'auth_failed', 'login address'],
  [{ status: 420, code: 'invalid_grant' }, 'auth_failed', 'expired'],
  [{ status: 400, code: 'constructor' }, 'auth_failed', 'Sign in'],
  [{ status: 403, code: '__proto__' }, 'auth_failed', 'Sign in'],
])('a token endpoint that answers %j: %s', (error, kind, hint) => {
  expect(tokenFailure(error)).toMatchObject({ kind, hint: expect.stringContaining(hint) });
});

test('texts of the platform are cut and cleaned', () => {
  const { message, code } = orgFailure({ status: 400, code: 'X'.repeat(500), message: `a\n\u0000b${'c'.repeat(500)}` });
  expect(message).toHaveLength(300);
  expect(message.startsWith('a b')).toBe(true);
  expect(code).toHaveLength(100);
});

test('the newest version up to the cap is taken', () => {
  expect(newestVersion(['58.0', '100.0', '67.0', '9.0', 'x'], '68.0')).toBe('67.0');
  expect(newestVersion(['58.0', '100.0'], '100.0')).toBe('100.0');
  expect(newestVersion([], '68.0')).toBeUndefined();
});

test('the newest process of a sandbox that is not void counts', () => {
  const row = (
    SandboxName: string,
    Status: string,
    CreatedDate: string,
    SandboxOrganization: string | null = null,
  ) => ({
    Id: '0GR000000000001',
    SandboxName,
    Status,
    CreatedDate,
    SandboxOrganization,
    SandboxInfoId: null,
    LicenseType: 'DEVELOPER',
    CopyProgress: 12,
    Description: null,
    EndDate: null,
  });
  const found = currentSandboxes([
    row('dev', 'Completed', '2026-01-01T00:00:00.000+0000', '00D1'),
    row('Dev', 'Completed', '2026-05-01T00:00:00.000+0000', '00D2'),
    row('dev', 'E', '2026-06-01T00:00:00.000+0000', '00D3'),
    row('uat', 'Pending Activation', '2026-06-01T00:00:00.000+0000'),
    row('old', 'Deleted', '2026-06-01T00:00:00.000+0000'),
    row('going', 'Deleting', '2026-06-01T00:00:00.000+0000'),
  ]);
  expect(found).toMatchObject([
    { name: 'Dev', state: 'ready', orgId: '00D2', copyProgress: 100, createdAt: '2026-05-01T00:00:00.000Z' },
    { name: 'uat', state: 'copying', status: 'Pending Activation', copyProgress: 12 },
  ]);
});

test('text for XML cannot leave its element', () => {
  expect(xmlText(`<a b="c">&'`)).toBe('&lt;a b=&quot;c&quot;&gt;&amp;&apos;');
  expect(xmlText('a\u0000\ud800\n\t😀')).toBe('a\ufffd\ufffd\n\t😀');
});
