import { writtenPublicKeys } from '../domain/kernel/encryption/public-token-ring.ts';
import { createTokenRing } from '../domain/kernel/encryption/token-ring.ts';
import { parseConfig } from '../domain/kernel/settings/config.ts';
import { NOT_OF_HOSTS } from '../domain/kernel/settings/host-config.ts';
import { loadKeys } from '../domain/kernel/encryption/keys.ts';

/** Whoever got out of a browser could otherwise write what the API and the worker load. */
const KEPT_CODE = 'NODE_COMPILE_CACHE';

/** The environment of a browser host beside a service with that one: without its secrets, and with its public keys. */
export function hostEnvironment(env: Record<string, string | undefined>): Record<string, string> {
  const { tokenKeys } = loadKeys(parseConfig(env));
  const kept = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || name === KEPT_CODE || NOT_OF_HOSTS.includes(name) ? [] : [[name, value] as const],
  );
  return { ...Object.fromEntries(kept), TOKEN_PUBLIC_KEYS: writtenPublicKeys(createTokenRing(tokenKeys)) };
}
