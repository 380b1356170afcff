import { readPublicTokenRing, writtenPublicKeys } from '../../../../domain/kernel/encryption/public-token-ring.ts';
import { createTokenRing } from '../../../../domain/kernel/encryption/token-ring.ts';
import { ConfigError } from '../../../../domain/kernel/settings/config.ts';
import { NOT_OF_HOSTS, parseHostConfig } from '../../../../domain/kernel/settings/host-config.ts';
import { generateKeys } from '../../../../domain/kernel/encryption/keys.ts';
import { hostEnvironment } from '../../../../tools/host-environment.ts';

const { tokenKeys, encryptionKeys } = generateKeys();
const publicKeys = writtenPublicKeys(createTokenRing(tokenKeys));
const needed = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://host:password@db/quayside',
  TEMPORAL_ADDRESS: 'temporal:7233',
  TOKEN_PUBLIC_KEYS: publicKeys,
};

test('a browser host needs public keys and a login alone, also in production', () => {
  const config = parseHostConfig(needed);
  expect(config).toMatchObject({ TOKEN_PUBLIC_KEYS: publicKeys, isProduction: true });
  expect(config.ENCRYPTION_KEYS).toBeUndefined();
});

test.each(NOT_OF_HOSTS)('it refuses to start with %s', (name) => {
  expect(() => parseHostConfig({ ...needed, [name]: '/nowhere' })).toThrow(
    new ConfigError(`A browser host takes no secret of the service: unset ${name} for it.`),
  );
});

test('without public keys it says what prints them', () => {
  expect(() => parseHostConfig({ ...needed, TOKEN_PUBLIC_KEYS: undefined })).toThrow(/npm run token-public-keys/);
});

test('beside a service it is started without the secrets of that, and without its folder of compiled code', () => {
  const keys = { ENCRYPTION_KEYS: encryptionKeys, TOKEN_KEYS: tokenKeys, NODE_COMPILE_CACHE: '/kept/compiled' };
  const env = hostEnvironment({ ...needed, ...keys, SMTP_URL: 'smtps://user:password@mail', PORT: '3000' });
  expect(env).toEqual({ ...needed, PORT: '3000' });
  expect(() => parseHostConfig(env)).not.toThrow();
});

test('public keys are read as they are written, and a private or another key is none', () => {
  const [kid = ''] = tokenKeys.split(':');
  expect([...readPublicTokenRing(publicKeys).publicKeys.keys()]).toEqual([kid]);
  for (const keys of [tokenKeys, encryptionKeys, '', `${kid}:`]) expect(() => readPublicTokenRing(keys)).toThrow();
});
