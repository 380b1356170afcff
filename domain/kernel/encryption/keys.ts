import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError } from '../settings/config.ts';

export interface Keys {
  /** `id:base64 of 32 bytes`, comma-separated; see `createEncryption`. */
  encryptionKeys: string;
  /** `id:base64 of an Ed25519 private key in PKCS#8 DER`, comma-separated; the first signs, all verify. */
  tokenKeys: string;
}

/** A new pair of keys, in the form that `ENCRYPTION_KEYS` and `TOKEN_KEYS` take. */
export function generateKeys(): Keys {
  const id = `k${new Date().toISOString().slice(0, 10).replaceAll('-', '')}`;
  const token = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'der' });
  return {
    encryptionKeys: `${id}:${randomBytes(32).toString('base64')}`,
    tokenKeys: `${id}:${token.toString('base64')}`,
  };
}

/** The configured keys; outside production, missing ones are made once and kept in the data directory. */
export function loadKeys(config: Config): Keys {
  const { ENCRYPTION_KEYS: encryptionKeys, TOKEN_KEYS: tokenKeys } = config;
  if (encryptionKeys !== undefined && tokenKeys !== undefined) return { encryptionKeys, tokenKeys };
  if (config.isProduction) throw new ConfigError('In production ENCRYPTION_KEYS and TOKEN_KEYS must both be set.');
  const kept = keptKeys(config.DATA_DIR);
  return { encryptionKeys: encryptionKeys ?? kept.encryptionKeys, tokenKeys: tokenKeys ?? kept.tokenKeys };
}

function keptKeys(dataDir: string): Keys {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, 'keys.json');
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(generateKeys()), { mode: 0o600 });
  try {
    // A link, unlike a rename, never replaces what another process made first.
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return JSON.parse(readFileSync(file, 'utf8')) as Keys;
}
