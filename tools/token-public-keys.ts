import { writtenPublicKeys } from '../domain/kernel/encryption/public-token-ring.ts';
import { createTokenRing } from '../domain/kernel/encryption/token-ring.ts';
import { readEnvironment } from '../domain/kernel/settings/config.ts';

/** Prints the public keys of `TOKEN_KEYS`, as browser hosts take them in `TOKEN_PUBLIC_KEYS`. */
const { TOKEN_KEYS: tokenKeys } = readEnvironment(process.env);
if (tokenKeys === undefined) {
  process.stderr.write('The environment variable TOKEN_KEYS, or TOKEN_KEYS_FILE, is missing.\n');
  process.exit(1);
}
process.stdout.write(`${writtenPublicKeys(createTokenRing(tokenKeys))}\n`);
