import { generateKeyPairSync } from 'node:crypto';
import { OAUTH_REDIRECT_URI } from '../../../../domain/orgs/crm/auth-url-rules.ts';
import { outboundAddresses } from '../../../../domain/kernel/outbound/outbound-addresses.ts';
import type { CrmFailure } from '../../../../domain/orgs/crm/crm-platform.port.ts';
import type { CrmSimulator } from '../../../simulators/crm-org/simulator.ts';
import { accessTo, authUrlParts, failureOf, IMPATIENT, valueOf, simulatedPlatform } from '../../../support/crm.ts';

const given = simulatedPlatform();

describe('Tokens of CRM orgs', () => {
  test('are minted by a refresh token', async () => {
    const org = given.crm.org('acme');
    expect(valueOf(await given.platform.refresh(authUrlParts(org.authUrl)))).toEqual({
      accessToken: expect.stringContaining('!'),
      instanceUrl: org.url,
      refreshToken: null,
      orgId: org.orgId,
      userId: org.userId,
    });
  });

  test('come with a refresh token that replaces the one that was used', async () => {
    const org = given.crm.org('acme');
    org.rotatesTokens = true;
    const parts = authUrlParts(org.authUrl);
    const { refreshToken } = valueOf(await given.platform.refresh(parts));
    expect(failureOf(await given.platform.refresh(parts))).toMatchObject({
      kind: 'auth_failed',
      code: 'invalid_grant',
    });
    expect((await given.platform.refresh({ ...parts, refreshToken: refreshToken ?? '' })).isOk).toBe(true);
  });

  test('of sandboxes are minted by the code that production gives, which works once', async () => {
    const production = given.platform.org(accessTo(given.platform, given.crm.org('acme')));
    const { code, loginUrl, username } = valueOf(
      await production.sandboxAuth({ sandboxName: 'dev', clientId: 'PlatformCLI' }),
    );
    expect(username).toBe('admin@acme.example.dev');
    const grant = { loginUrl, code, clientId: 'PlatformCLI', clientSecret: '', redirectUri: OAUTH_REDIRECT_URI };
    expect(valueOf(await given.platform.exchangeCode(grant))).toMatchObject({
      instanceUrl: given.crm.org('acme-dev').url,
      refreshToken: expect.any(String),
    });
    expect(failureOf(await given.platform.exchangeCode(grant))).toMatchObject({
      kind: 'auth_failed',
      code: 'invalid_grant',
    });
  });

  test('are minted by JWT, for the host that it is sent to alone', async () => {
    const org = given.crm.org('acme');
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    org.jwtApps.set('my-app', publicKey.export({ type: 'spki', format: 'pem' }) as string);
    const grant = {
      loginUrl: org.url,
      clientId: 'my-app',
      username: org.username,
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    };
    expect(valueOf(await given.platform.mintByJwt(grant))).toMatchObject({ instanceUrl: org.url, refreshToken: null });
    expect(failureOf(await given.platform.mintByJwt({ ...grant, username: 'other@example.com' }))).toMatchObject({
      hint: expect.stringContaining('pre-authorize'),
    });
    const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey;
    for (const key of ['no key', weak.export({ type: 'pkcs8', format: 'pem' }) as string])
      expect(failureOf(await given.platform.mintByJwt({ ...grant, privateKey: key }))).toMatchObject({
        code: 'INVALID_KEY',
      });
  });

  test('are revoked, which is safe to repeat', async () => {
    const org = given.crm.org('acme');
    const parts = authUrlParts(org.authUrl);
    const order = { loginUrl: parts.loginUrl, token: parts.refreshToken };
    expect(await given.platform.revoke(order)).toEqual({ isOk: true, value: null });
    expect(await given.platform.revoke(order)).toEqual({ isOk: true, value: null });
    expect(failureOf(await given.platform.refresh(parts))).toMatchObject({ kind: 'auth_failed' });
  });

  test.each<[string, (org: ReturnType<CrmSimulator['org']>) => void, Partial<CrmFailure>]>([
    [
      'a revoked token',
      (org) => org.revokeApprovals(),
      { kind: 'auth_failed', code: 'invalid_grant', hint: expect.stringContaining('revoked') },
    ],
    [
      'a deactivated user',
      (org) => (org.isUserActive = false),
      { kind: 'auth_failed', hint: expect.stringContaining('deactivated') },
    ],
    [
      'an app that is not installed',
      (org) => (org.isAppInstalled = false),
      { kind: 'auth_failed', code: 'app_not_found', hint: expect.stringContaining('administrator') },
    ],
    [
      'an expired org',
      (org) => org.fail('gone'),
      { kind: 'auth_failed', code: 'HTTP_420', hint: expect.stringContaining('expired') },
    ],
    ['a page instead of an answer', (org) => org.fail('html'), { kind: 'malformed', code: 'HTML' }],
    ['a page with 503', (org) => org.fail('html-503'), { kind: 'unreachable', code: 'HTTP_503' }],
    ['a hanging org', (org) => org.fail('hang'), { kind: 'timeout' }],
    ['a dripping org', (org) => org.fail('drip'), { kind: 'timeout' }],
    ['an endless answer', (org) => org.fail('endless'), { kind: 'malformed', code: 'TOO_LARGE' }],
    ['a broken connection', (org) => org.fail('drop'), { kind: 'unreachable' }],
    ['a redirect', (org) => org.fail('redirect'), { kind: 'refused', code: 'HTTP_302' }],
    [
      'a token reply with a link-local address',
      (org) => (org.claimedUrl = 'http://169.254.169.254'),
      { kind: 'malformed', code: 'INSTANCE_URL_REFUSED' },
    ],
    [
      'a token reply with a private address',
      (org) => (org.claimedUrl = 'https://10.0.0.1'),
      { kind: 'malformed', code: 'INSTANCE_URL_REFUSED' },
    ],
    [
      'a token reply with a path',
      (org) => (org.claimedUrl = 'https://acme.example/a/../b'),
      { kind: 'malformed', code: 'INSTANCE_URL_REFUSED' },
    ],
    [
      'a token reply without TLS',
      (org) => (org.claimedUrl = 'http://acme.example'),
      { kind: 'malformed', code: 'INSTANCE_URL_REFUSED' },
    ],
  ])('%s is a failure with a hint', async (_, change, expected) => {
    const org = given.crm.org('acme');
    const parts = authUrlParts(org.authUrl);
    if (expected.kind === 'timeout') await given.reconnect({ timeouts: IMPATIENT });
    change(org);
    const failure = failureOf(await given.platform.refresh(parts));
    expect(failure).toMatchObject(expected);
    expect(failure.hint).toMatch(/\.$/);
    expect(JSON.stringify(failure)).not.toContain(parts.refreshToken);
    expect(given.crm.requests.filter(({ org: name }) => name === 'acme')).toHaveLength(1);
    expect(given.crm.requests.filter(({ org: name }) => name === 'elsewhere')).toHaveLength(0);
  });

  test.each([
    ['an error named like a member of every object', 400, { error: 'constructor' }, 'auth_failed', 'constructor'],
    ['a passing error', 400, { error: 'unknown_error' }, 'unreachable', 'unknown_error'],
    ['used-up calls', 403, { error: 'REQUEST_LIMIT_EXCEEDED' }, 'limited', 'REQUEST_LIMIT_EXCEEDED'],
    ['too many requests', 429, { error: 'rate_limited' }, 'limited', 'HTTP_429'],
    ['the sign-in page of a proxy', 401, '<html>Sign in</html>', 'malformed', 'HTTP_401'],
    ['a token without end', 200, { access_token: 'x'.repeat(4_001), instance_url: '' }, 'malformed', 'NO_TOKEN'],
    ['an answer larger than any token', 200, ' '.repeat(65_537), 'malformed', 'TOO_LARGE'],
  ])('%s is a failure of its kind', async (_, status, body, kind, code) => {
    const org = given.crm.org('acme');
    org.fail({ kind: 'reply', status, body });
    expect(failureOf(await given.platform.refresh(authUrlParts(org.authUrl)))).toMatchObject({ kind, code });
  });

  test('are not asked for at private addresses', async () => {
    await given.reconnect({ addresses: outboundAddresses('') });
    expect(failureOf(await given.platform.refresh(authUrlParts(given.crm.org('acme').authUrl)))).toMatchObject({
      kind: 'refused',
      code: 'ADDRESS_REFUSED',
    });
    expect(given.crm.requests).toHaveLength(0);
  });

  test('a host that nobody answers at is unreachable', async () => {
    const parts = authUrlParts(given.crm.org('acme').authUrl);
    await given.crm.close();
    expect(failureOf(await given.platform.refresh(parts))).toMatchObject({ kind: 'unreachable', code: null });
  });
});
