import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** The keys by which the service signs tokens and links. */
export interface TokenRing {
  algorithm: 'EdDSA';
  signing: { kid: string; privateKey: KeyObject };
  publicKeys: ReadonlyMap<string, KeyObject>;
  /** Throws for a key that is not in the ring. */
  publicKeyOf(kid: string | undefined): KeyObject;
}

/** @param tokenKeys `id:base64 of an Ed25519 private key in PKCS#8 DER`, comma-separated: the first signs, all verify. */
export function createTokenRing(tokenKeys: string): TokenRing {
  const ring = tokenKeys.split(',').map((entry) => {
    const [kid = '', der = ''] = entry.trim().split(/:(.*)/s);
    const privateKey = createPrivateKey({ key: Buffer.from(der, 'base64'), format: 'der', type: 'pkcs8' });
    if (kid === '' || privateKey.asymmetricKeyType !== 'ed25519') {
      throw new Error('each entry must be <id>:<base64 of an Ed25519 private key in PKCS#8 DER>');
    }
    return { kid, privateKey };
  });
  const [signing] = ring;
  if (!signing) throw new Error('there must be at least one key');
  const publicKeys = new Map(ring.map(({ kid, privateKey }) => [kid, createPublicKey(privateKey)]));
  return {
    algorithm: 'EdDSA',
    signing,
    publicKeys,
    publicKeyOf(kid) {
      const key = publicKeys.get(kid ?? '');
      if (!key) throw new Error('unknown key');
      return key;
    },
  };
}
