import { SignJWT, UnsecuredJWT } from 'jose';
import { createAccessTokens } from '../../../../domain/identity/auth/access-tokens.ts';
import { readPublicTokenRing, writtenPublicKeys } from '../../../../domain/kernel/encryption/public-token-ring.ts';
import { createTokenRing } from '../../../../domain/kernel/encryption/token-ring.ts';
import {
  admittedTo,
  createHostTokenReader,
  createHostTokens,
  type HostGrant,
} from '../../../../domain/review/browser-sessions/hosts/host-tokens.ts';
import { createDownloadLinks } from '../../../../domain/kernel/objects/download-links.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { generateKeys } from '../../../../domain/kernel/encryption/keys.ts';

const ISSUER = 'https://quayside.example';
const { tokenKeys } = generateKeys();
const ring = createTokenRing(tokenKeys);
const other = createTokenRing(generateKeys().tokenKeys);
const tokens = createHostTokens(ring, ISSUER);
const now = new Date('2026-03-02T09:30:00Z');
const at = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const by = {
  type: 'user',
  id: newId(),
  tenantId: newId(),
  tenantSlug: 'acme',
  role: 'member',
  email: 'ada@acme.example',
} as const;
const grant: HostGrant = { hostId: newId(), sessionId: newId(), asks: 'watch', by, linkId: null, until: at(900) };

const signed = ({ audience = 'browser-host', typ = 'browser-host+jwt', issuer = ISSUER, payload = {} } = {}) =>
  new SignJWT({
    host: grant.hostId,
    asks: 'watch',
    link: null,
    until: now.getTime() / 1000 + 900,
    by,
    sub: grant.sessionId,
    jti: newId(),
    exp: now.getTime() / 1000 + 60,
    ...payload,
  })
    .setProtectedHeader({ alg: 'EdDSA', kid: ring.signing.kid, typ })
    .setIssuer(issuer)
    .setAudience(audience);

test('a token opens its grant for a minute, and says nothing else of who asks', async () => {
  const signedIn = { ...by, sessionId: newId() };
  const token = await tokens.sign({ ...grant, by: { ...signedIn, projectIds: [newId()] } }, now);
  await expect(tokens.open(token, at(59))).resolves.toEqual({
    ...grant,
    by: signedIn,
    tokenId: expect.any(String),
    expiresAt: at(60),
  });
  await expect(tokens.open(token, at(60))).resolves.toBeUndefined();
});

test('a host opens it with the public keys alone', async () => {
  const publicRing = readPublicTokenRing(writtenPublicKeys(createTokenRing(tokenKeys)));
  expect(publicRing).not.toHaveProperty('signing');
  expect([...publicRing.publicKeys.values()].map(({ type }) => type)).toEqual(['public']);
  const token = await tokens.sign(grant, now);
  await expect(createHostTokenReader(publicRing, ISSUER).open(token, now)).resolves.toMatchObject(grant);
});

test('its own host admits it once; another host, and one whose time is up, never', async () => {
  const admit = admittedTo(grant.hostId, tokens);
  const token = await tokens.sign(grant, now);
  await expect(admittedTo(newId(), tokens)(token, now)).resolves.toBeUndefined();
  await expect(admit(token, now)).resolves.toMatchObject(grant);
  await expect(admit(token, at(1))).resolves.toBeUndefined();
  await expect(admit(await tokens.sign(grant, now), at(59))).resolves.toMatchObject(grant);
  await expect(admit(token, at(59))).resolves.toBeUndefined();
  await expect(admit(await tokens.sign({ ...grant, until: at(5) }, now), at(5))).resolves.toBeUndefined();
});

test('of two that use a token at the same time one is admitted', async () => {
  const admit = admittedTo(grant.hostId, tokens);
  const token = await tokens.sign(grant, now);
  const admitted = await Promise.all([admit(token, now), admit(token, now), admit(token, now)]);
  expect(admitted.filter((found) => found !== undefined)).toHaveLength(1);
});

test.each<[string, () => Promise<string> | string]>([
  ['one that is cut', async () => (await tokens.sign(grant, now)).slice(0, -2)],
  ['one of another installation', () => signed({ issuer: 'https://elsewhere.example' }).sign(ring.signing.privateKey)],
  ['one for another audience', () => signed({ audience: 'quayside' }).sign(ring.signing.privateKey)],
  ['one of another type', () => signed({ typ: 'JWT' }).sign(ring.signing.privateKey)],
  ['one signed by another key under the same key id', () => signed().sign(other.signing.privateKey)],
  ['one that asks for something else', () => signed({ payload: { asks: 'stop' } }).sign(ring.signing.privateKey)],
  ['one that never expires', () => signed({ payload: { exp: undefined } }).sign(ring.signing.privateKey)],
  ['one without an id', () => signed({ payload: { jti: undefined } }).sign(ring.signing.privateKey)],
  [
    'one that is not signed',
    () => new UnsecuredJWT({ host: grant.hostId }).setIssuer(ISSUER).setAudience('browser-host').encode(),
  ],
  [
    'a sign-in token',
    () =>
      createAccessTokens(ring, ISSUER).sign({
        sub: by.id,
        tenant: by.tenantId,
        role: 'owner',
        email: by.email,
        aal: 'aal1',
        sid: newId(),
      }),
  ],
  [
    'the token of a download link',
    () => createDownloadLinks(ring, ISSUER).sign({ key: 'a/b', fileName: 'b', contentType: 'text/csv' }, now),
  ],
  ['noise', () => 'a.b.c'],
])('%s opens nothing', async (_, token) => {
  await expect(tokens.open(await token(), now)).resolves.toBeUndefined();
});

test('it is no sign-in token, and no download link', async () => {
  const current = new Date();
  const token = await tokens.sign({ ...grant, until: new Date(current.getTime() + 60_000) }, current);
  await expect(createAccessTokens(ring, ISSUER).verify(token)).resolves.toBeUndefined();
  await expect(createDownloadLinks(ring, ISSUER).open(token, current)).resolves.toBeUndefined();
});
