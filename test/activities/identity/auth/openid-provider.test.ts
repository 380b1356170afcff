import { SignJWT, UnsecuredJWT } from 'jose';
import { createOpenIdProvider, type OpenIdSettings } from '../../../../activities/adapters/identity/openid-provider.ts';
import { eventually } from '../../../support/worker.ts';
import { AUDIENCE, openIdSimulator, type OpenIdSimulator } from '../../../simulators/openid-provider.ts';

let simulator: OpenIdSimulator;
beforeEach(async () => {
  simulator = await openIdSimulator();
});
afterEach(() => simulator.close());

const ada = { email: 'Ada@Example.com' };
const provider = (settings: Partial<OpenIdSettings> = {}) =>
  createOpenIdProvider({
    issuer: simulator.issuer,
    audience: AUDIENCE,
    timeoutMs: 60_000,
    discoveryCooldownMs: 0,
    ...settings,
  });

test('a token of the provider identifies its person, and is checked without asking the provider each time', async () => {
  const { verify } = provider();
  const token = await simulator.issue(ada);
  for (let time = 0; time < 3; time++) {
    expect(await verify(token)).toEqual({ outcome: 'valid', identity: { email: 'ada@example.com', aal: 'aal1' } });
  }
  expect(await verify(await simulator.token({ email: 'bob@example.com' }))).toMatchObject({ outcome: 'valid' });
  expect(simulator.asked.toSorted()).toEqual(['/.well-known/openid-configuration', '/jwks', '/token']);
});

test('several factors at the provider are a second factor here', async () => {
  const token = await simulator.token(ada, { claims: { amr: ['pwd', 'mfa'] } });
  expect(await provider().verify(token)).toMatchObject({ identity: { aal: 'aal2' } });
});

test('new keys of the provider are found, and its old ones are refused', async () => {
  const { verify } = provider({ keyCooldownMs: 0 });
  const before = await simulator.token(ada);
  expect(await verify(await simulator.token({ email: 'bob@example.com' }))).toMatchObject({ outcome: 'valid' });
  await simulator.rotateKeys();
  expect(await verify(await simulator.token(ada))).toMatchObject({ outcome: 'valid' });
  expect(await verify(before)).toEqual({ outcome: 'invalid' });
});

test('unknown key ids do not make the keys be fetched each time', async () => {
  const { verify } = provider();
  await verify(await simulator.token(ada));
  await Promise.all(
    Array.from({ length: 20 }, async (_, at) =>
      verify(await simulator.token(ada, { header: { kid: `made-up-${at}` } })),
    ),
  );
  expect(simulator.asked.filter((path) => path === '/jwks')).toHaveLength(1);
});

test.each<[string, (at: OpenIdSimulator) => Promise<string> | string]>([
  ['an expired one', (at) => at.token(ada, { expiresInSeconds: -60 })],
  ['one that never expires', (at) => at.token(ada, { claims: { exp: undefined } })],
  ['one for another audience', (at) => at.token(ada, { claims: { aud: 'https://elsewhere.example' } })],
  ['one of another issuer', (at) => at.token(ada, { claims: { iss: 'https://elsewhere.example' } })],
  ['one without a verified e-mail', (at) => at.token({ ...ada, emailVerified: false })],
  ['one that is not valid yet', (at) => at.token(ada, { claims: { nbf: Math.floor(Date.now() / 1_000) + 600 } })],
  ['noise', () => 'abc.def.ghi'],
  [
    'one that is not signed',
    (at) =>
      new UnsecuredJWT({ email: ada.email, email_verified: true, sub: 'x' })
        .setIssuer(at.issuer)
        .setAudience(AUDIENCE)
        .setExpirationTime('5m')
        .encode(),
  ],
  [
    'one signed with the public key as a secret',
    async (at) => {
      const { keys } = (await (await fetch(`${at.issuer}/jwks`)).json()) as { keys: { kid: string; n: string }[] };
      return new SignJWT({ email: ada.email, email_verified: true, sub: 'x' })
        .setProtectedHeader({ alg: 'HS256', kid: keys[0]?.kid ?? '' })
        .setIssuer(at.issuer)
        .setAudience(AUDIENCE)
        .setExpirationTime('5m')
        .sign(Buffer.from(keys[0]?.n ?? '', 'base64url'));
    },
  ],
  [
    'one signed by somebody else with the same key id',
    async (at) => {
      const [genuine, other] = [await at.token(ada), await openIdSimulator()];
      const { kid } = JSON.parse(Buffer.from(genuine.split('.')[0] ?? '', 'base64url').toString()) as { kid: string };
      const forged = await other.token(ada, { claims: { iss: at.issuer }, header: { kid } });
      await other.close();
      return forged;
    },
  ],
])('%s is refused', async (_, token) => {
  const made = await token(simulator);
  expect(await provider().verify(made)).toEqual({ outcome: 'invalid' });
});

test('a small clock skew is tolerated', async () => {
  expect(await provider().verify(await simulator.token(ada, { expiresInSeconds: -10 }))).toMatchObject({
    outcome: 'valid',
  });
});

test('a provider that hangs or is not reachable is reported as failed; afterwards it is asked again', async () => {
  const { verify } = provider({ timeoutMs: 300 });
  const token = await simulator.token(ada);
  simulator.hang(true);
  expect(await verify(token)).toEqual({ outcome: 'failed', reason: 'timeout' });
  simulator.hang(false);
  await eventually(
    () => verify(token),
    ({ outcome }) => outcome === 'valid',
  );
  const away = provider({ issuer: 'http://127.0.0.1:1' });
  const [header = '', , signature = ''] = token.split('.');
  const elsewhere = Buffer.from(JSON.stringify({ iss: 'http://127.0.0.1:1' })).toString('base64url');
  expect(await away.verify(`${header}.${elsewhere}.${signature}`)).toEqual({ outcome: 'failed', reason: 'error' });
});
