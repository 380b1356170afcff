import type { Backend } from '../activities/backend.ts';
import { type CacheMemory, createCacheMemory } from '../domain/kernel/caches/cache-memory.ts';
import { connectDatabase } from '../domain/kernel/data/database.ts';
import type { Database } from '../domain/kernel/data/tables.ts';
import { createTokenRing, type TokenRing } from '../domain/kernel/encryption/token-ring.ts';
import type { ApiConfig } from './config.ts';
import { type Cookies, cookiesOf } from './http/cookies.ts';

/** What the API's parts of areas are made of; made once per process. */
export interface ApiBase {
  backend: Backend;
  config: ApiConfig;
  /** For statements without a transaction. */
  database: Database;
  /** The keys that sign tokens of this service. */
  ring: TokenRing;
  /** For answers that are asked for again. */
  memory: CacheMemory;
  cookies: Cookies;
}

/** Connects to nothing yet. */
export function openApiBase(backend: Backend, config: ApiConfig): { base: ApiBase; close: () => Promise<void> } {
  const { db: database, close } = connectDatabase(backend.access, backend.onConnectionLost);
  return {
    base: {
      backend,
      config,
      database,
      ring: createTokenRing(backend.keys.tokenKeys),
      memory: createCacheMemory(config.CACHE_MB * 1_048_576),
      cookies: cookiesOf(config.publicUrl),
    },
    close,
  };
}
