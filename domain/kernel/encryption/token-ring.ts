import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { publicRingOf, type PublicTokenRing } from './public-token-ring.ts';

/** The keys by which the service signs tokens and links, too. */
export interface TokenRing extends PublicTokenRing {
  signing: { kid: string; privateKey: KeyObject };
}

/** @param tokenKeys `id:base64 of an Ed25519 private key in PKCS#8 DER`, comma-separated: the first signs, all verify. */
export function createTokenRing(tokenKeys: string): TokenRing {
  const ring = privateKeysOf(tokenKeys);
  const publicKeys = new Map(ring.map(({ kid, privateKey }) => [kid, createPublicKey(privateKey)]));
  return { ...publicRingOf(publicKeys), signing: ring[0] };
}

type SigningKey = TokenRing['signing'];

function privateKeysOf(tokenKeys: string): [SigningKey, ...SigningKey[]] {
  const [first, ...others] = tokenKeys.split(',').map((entry) => {
    const [kid = '', der = ''] = entry.trim().split(/:(.*)/s);
    const privateKey = createPrivateKey({ key: Buffer.from(der, 'base64'), format: 'der', type: 'pkcs8' });
    if (kid === '' || privateKey.asymmetricKeyType !== 'ed25519') {
      throw new Error('each entry must be <id>:<base64 of an Ed25519 private key in PKCS#8 DER>');
    }
    return { kid, privateKey };
  });
  if (!first) throw new Error('there must be at least one key');
  return [first, ...others];
}
