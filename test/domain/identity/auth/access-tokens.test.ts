import { mock } from 'node:test';
import { createPublicKey } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import { createAccessTokens } from '../../../../domain/identity/auth/access-tokens.ts';
import { createTokenRing } from '../../../../domain/kernel/encryption/token-ring.ts';
import { createDownloadLinks } from '../../../../domain/kernel/objects/download-links.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { generateKeys } from '../../../../domain/kernel/encryption/keys.ts';

const ISSUER = 'https://quayside.example';
const [first, second] = [generateKeys().tokenKeys, generateKeys().tokenKeys.replace(/^[^:]+/, 'second')];
const ring = createTokenRing(first);
const tokens = createAccessTokens(ring, ISSUER);
const claims = {
  sub: newId(),
  tenant: newId(),
  role: 'owner',
  email: 'ada@acme.example',
  aal: 'aal1',
  sid: newId(),
} as const;

type Changes = Partial<Record<'alg' | 'kid' | 'audience' | 'issuer' | 'endsIn', string>> & { payload?: object };
/** A token that is good but for what is given. */
const made = ({
  alg = 'EdDSA',
  kid = ring.signing.kid,
  audience = 'quayside',
  issuer = ISSUER,
  endsIn = '1h',
  payload = claims,
}: Changes = {}) =>
  new SignJWT({ ...payload })
    .setProtectedHeader({ alg, kid, typ: 'JWT' })
    .setIssuer(issuer)
    .setAudience(audience)
    .setExpirationTime(endsIn);
const signed = (changes?: Changes) => made(changes).sign(ring.signing.privateKey);

test('a token that the service signed has its claims', async () => {
  expect(await tokens.verify(await tokens.sign(claims))).toMatchObject(claims);
  expect(await tokens.verify(await signed())).toMatchObject(claims);
});

test.each<[string, () => Promise<string> | string]>([
  ['an expired one', () => signed({ endsIn: '-1s' })],
  [
    'one that never expires',
    () =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'EdDSA', kid: ring.signing.kid })
        .setIssuer(ISSUER)
        .setAudience('quayside')
        .sign(ring.signing.privateKey),
  ],
  ['one of another installation', () => signed({ issuer: 'https://elsewhere.example' })],
  ['one for another audience', () => signed({ audience: 'elsewhere' })],
  ['one without a session', () => signed({ payload: { ...claims, sid: undefined } })],
  ['one of an unknown key', () => signed({ kid: 'made-up' })],
  ['one signed by another key under the same key id', () => made().sign(createTokenRing(second).signing.privateKey)],
  [
    'one that is not signed',
    () => new UnsecuredJWT({ ...claims }).setIssuer(ISSUER).setAudience('quayside').setExpirationTime('1h').encode(),
  ],
  [
    'one signed with the public key as a secret',
    () => made({ alg: 'HS256' }).sign(createPublicKey(ring.signing.privateKey).export({ format: 'der', type: 'spki' })),
  ],
  [
    'the token of a download link',
    () => createDownloadLinks(ring, ISSUER).sign({ key: 'a/b', fileName: 'b', contentType: 'text/csv' }, new Date()),
  ],
  ['noise', () => 'a.b.c'],
  ['a header that is no object', () => `${Buffer.from('null').toString('base64url')}.e30.c2ln`],
])('%s is refused', async (_, token) => {
  expect(await tokens.verify(await token())).toBeUndefined();
});

test('an expired token is refused, though its signature was checked before', async () => {
  const token = await signed({ endsIn: '10m' });
  expect(await tokens.verify(token)).toMatchObject(claims);
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 10 * 60_000 });
  try {
    expect(await tokens.verify(token)).toBeUndefined();
  } finally {
    mock.reset();
  }
});

test('while keys are rotated tokens of both are valid, afterwards those of the new one', async () => {
  const before = await tokens.sign(claims);
  const rotating = createAccessTokens(createTokenRing(`${second},${first}`), ISSUER);
  const after = await rotating.sign(claims);
  expect(await rotating.verify(before)).toMatchObject(claims);
  expect((await rotating.jwks()).keys.map(({ kid }) => kid)).toEqual(['second', ring.signing.kid]);
  const done = createAccessTokens(createTokenRing(second), ISSUER);
  expect(await done.verify(after)).toMatchObject(claims);
  expect(await done.verify(before)).toBeUndefined();
});
