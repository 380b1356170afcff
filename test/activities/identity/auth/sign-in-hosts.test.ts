import { configuredSignInHosts } from '../../../../activities/adapters/git-hosts/sign-in-hosts.ts';
import { parseConfig } from '../../../../domain/kernel/settings/config.ts';
import { hostASimulator, hostBSimulator } from '../../../simulators/host-sign-in.ts';

const needed = { DATABASE_URL: 'postgres://localhost/x', TEMPORAL_ADDRESS: 'localhost:1' };

test('a host that hangs is a time-out', async () => {
  const [a, b] = await Promise.all([hostASimulator(), hostBSimulator()]);
  const env = {
    HOST_A_API_URL: a.url,
    HOST_B_API_URL: b.url,
    HOST_A_OAUTH_TOKEN_URL: a.tokenUrl,
    HOST_A_OAUTH_CLIENT_ID: 'x',
    HOST_A_OAUTH_CLIENT_SECRET: 'y',
  };
  const hosts = configuredSignInHosts(parseConfig({ ...needed, ...env }), 50);
  a.misbehave('hang');
  b.misbehave('hang');
  const timeout = { outcome: 'failed', reason: 'timeout' };
  expect(await hosts['host-a'].accountOf?.('token')).toEqual(timeout);
  expect(await hosts['host-a'].refresh?.('token')).toEqual(timeout);
  expect(await hosts['host-b'].accountOf?.('token')).toEqual(timeout);
  expect(hosts['host-b'].refresh).toBeUndefined();
  await Promise.all([a.close(), b.close()]);
});

test.each(['OIDC_ISSUER', 'HOST_A_API_URL', 'HOST_B_OAUTH_TOKEN_URL'])(
  '%s is https, or loopback outside production',
  (name) => {
    const parse =
      (value: string, more = {}) =>
      () =>
        parseConfig({ ...needed, OIDC_AUDIENCE: 'x', [name]: value, ...more });
    expect(parse('https://host.example')).not.toThrow();
    expect(parse('http://127.0.0.1:8080')).not.toThrow();
    expect(parse('http://host.example')).toThrow(name);
    expect(parse('http://127.0.0.1.host.example')).toThrow(name);
    expect(parse('http://127.0.0.1', { NODE_ENV: 'production', ENCRYPTION_KEYS: 'x', TOKEN_KEYS: 'x' })).toThrow(name);
  },
);
