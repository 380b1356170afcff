import { hashSecret } from '../encryption/secrets.ts';
import type { Encryption } from '../encryption/encryption.ts';
import type { UnitOfWork } from '../../unit-of-work.ts';
import type { Database } from '../data/tables.ts';
import { claimKey, freeKey, type KeyIdentity, keepReply, markDone, markUndone } from './idempotency.queries.ts';

/** One use of an `Idempotency-Key`: the key holds per tenant, credential, method and path. */
export interface KeyedRequest extends Omit<KeyIdentity, 'tenantId'> {
  bodyBytes: Uint8Array;
}

export interface KeptReply {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

export type Claim =
  | { outcome: 'mine' }
  | { outcome: 'replayed'; reply: KeptReply }
  | { outcome: 'other_body' }
  | { outcome: 'running' }
  /** It was executed, and its reply was lost with the process or its database connection. */
  | { outcome: 'done' };

/** What a kept reply belongs to; under another key it cannot be decrypted. */
export const replyContext = ({ subject, key }: Pick<KeyedRequest, 'subject' | 'key'>): string =>
  `idempotency:${subject}:${key}`;

/** The reply follows the commit within this, or never. */
const REPLY_FOLLOWS_MS = 30_000;

const hasLostReply = ({ doneAt }: { doneAt: string | null }): boolean =>
  doneAt !== null && Date.now() - Date.parse(doneAt) > REPLY_FOLLOWS_MS;

const identityOf = ({ bodyBytes: _, ...identity }: KeyedRequest, tenantId: string): KeyIdentity => ({
  ...identity,
  tenantId,
});

/** Replies are encrypted: some of them show a secret once. */
export const createIdempotency = (encryption: Encryption) => ({
  /** Claims the key for this request, or says why not. */
  claim: (tx: UnitOfWork, request: KeyedRequest): Promise<Claim> =>
    tx(async ({ db, tenantId }) => {
      const bodyHash = hashSecret(request.bodyBytes);
      const row = await claimKey(db, identityOf(request, tenantId), bodyHash);
      if (row?.isMine) return { outcome: 'mine' };
      if (!row) return { outcome: 'running' };
      if (row.bodyHash !== bodyHash) return { outcome: 'other_body' };
      if (row.reply === null) return { outcome: hasLostReply(row) ? 'done' : 'running' };
      const reply = JSON.parse(encryption.decrypt(row.reply, replyContext(request))) as KeptReply;
      return { outcome: 'replayed', reply };
    }),

  /** Notes in a transaction of the request that it does what was asked for: from its commit on, it is not done again. */
  markDone: ({ db, tenantId }: { db: Database; tenantId: string }, request: Omit<KeyedRequest, 'bodyBytes'>) =>
    markDone(db, { ...request, tenantId }),

  /** Notes in a transaction of the request that nothing is left of what it did: a repeat does it anew. */
  markUndone: ({ db, tenantId }: { db: Database; tenantId: string }, request: Omit<KeyedRequest, 'bodyBytes'>) =>
    markUndone(db, { ...request, tenantId }),

  /** Keeps the reply for requests that repeat this one. */
  keep: (tx: UnitOfWork, request: KeyedRequest, reply: KeptReply): Promise<void> =>
    tx(({ db, tenantId }) => {
      const sealed = encryption.encrypt(JSON.stringify(reply), replyContext(request));
      return keepReply(db, identityOf(request, tenantId), reply.status, sealed);
    }),

  /** Frees the key after a failure, so that the request can be repeated. */
  free: (tx: UnitOfWork, request: KeyedRequest): Promise<void> =>
    tx(({ db, tenantId }) => freeKey(db, identityOf(request, tenantId))),
});
export type Idempotency = ReturnType<typeof createIdempotency>;
