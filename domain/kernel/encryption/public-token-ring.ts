import { createPublicKey, type KeyObject } from 'node:crypto';

/** The keys by which tokens and links of the service are verified. */
export interface PublicTokenRing {
  algorithm: 'EdDSA';
  publicKeys: ReadonlyMap<string, KeyObject>;
  /** Throws for a key that is not in the ring. */
  publicKeyOf(kid: string | undefined): KeyObject;
}

export const publicRingOf = (publicKeys: ReadonlyMap<string, KeyObject>): PublicTokenRing => ({
  algorithm: 'EdDSA',
  publicKeys,
  publicKeyOf(kid) {
    const key = publicKeys.get(kid ?? '');
    if (!key) throw new Error('unknown key');
    return key;
  },
});

/** @param keys `id:base64 of an Ed25519 public key in SPKI DER`, comma-separated. Throws for what is none, a private key too. */
export function readPublicTokenRing(keys: string): PublicTokenRing {
  const ring = new Map<string, KeyObject>();
  for (const entry of keys.split(',')) {
    const [kid = '', der = ''] = entry.trim().split(/:(.*)/s);
    const key = createPublicKey({ key: Buffer.from(der, 'base64'), format: 'der', type: 'spki' });
    if (kid === '' || key.asymmetricKeyType !== 'ed25519') {
      throw new Error('each entry must be <id>:<base64 of an Ed25519 public key in SPKI DER>');
    }
    ring.set(kid, key);
  }
  return publicRingOf(ring);
}

/** The form that `readPublicTokenRing` takes. */
export const writtenPublicKeys = ({ publicKeys }: PublicTokenRing): string =>
  [...publicKeys]
    .map(([kid, key]) => `${kid}:${key.export({ type: 'spki', format: 'der' }).toString('base64')}`)
    .join(',');
