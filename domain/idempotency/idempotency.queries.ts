import { hashSecret } from '../auth/secrets.ts';
import type { Encryption } from '../shared/encryption.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/** One use of an `Idempotency-Key`: the key holds per tenant, credential, method and path. */
export interface KeyedRequest {
  subject: string;
  method: string;
  path: string;
  key: string;
  bodyText: string;
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
  | { outcome: 'running' };

/** A request that left its key running for longer than this died; the next one takes the key over. */
const ABANDONED_SECONDS = 120;
export const KEPT_HOURS = 24;

interface KeyRow {
  body_hash: string;
  status: number | null;
  reply: string | null;
  is_mine: boolean;
}

/** What a kept reply belongs to; under another key it does not open. */
export const replyContext = ({ subject, key }: Pick<KeyedRequest, 'subject' | 'key'>): string =>
  `idempotency:${subject}:${key}`;

/** Replies are encrypted: some of them show a secret once. */
export function createIdempotency(encryption: Encryption) {
  const identity = (request: KeyedRequest, tenantId: string) => [
    tenantId,
    request.subject,
    request.method,
    request.path,
    request.key,
  ];
  return {
    /** Claims the key for this request, or says why not. */
    claim: (tx: UnitOfWork, request: KeyedRequest): Promise<Claim> =>
      tx(async ({ sql, tenantId }) => {
        const bodyHash = hashSecret(request.bodyText);
        const [row] = await sql<KeyRow>(
          `with claimed as (
             insert into idempotency_key as k (tenant_id, subject, method, path, key, body_hash) values (?, ?, ?, ?, ?, ?)
             on conflict (tenant_id, subject, method, path, key) do update
               set started_at = now(), status = null, reply = null, body_hash = excluded.body_hash
               where (k.status is null and k.started_at < now() - make_interval(secs => ${ABANDONED_SECONDS}))
                 or k.started_at < now() - make_interval(hours => ${KEPT_HOURS})
             returning body_hash, status, reply)
           select *, true as is_mine from claimed
           union all
           select body_hash, status, reply, false from idempotency_key
           where tenant_id = ? and subject = ? and method = ? and path = ? and key = ? and not exists (select from claimed)`,
          [...identity(request, tenantId), bodyHash, ...identity(request, tenantId)],
        );
        if (row?.is_mine) return { outcome: 'mine' };
        // Without a row, another request claimed the key at this moment and is not committed yet.
        if (!row || (row.body_hash === bodyHash && row.reply === null)) return { outcome: 'running' };
        if (row.body_hash !== bodyHash || row.reply === null) return { outcome: 'other_body' };
        return {
          outcome: 'replayed',
          reply: JSON.parse(encryption.decrypt(row.reply, replyContext(request))) as KeptReply,
        };
      }),

    /** Keeps the reply for repetitions. */
    keep: (tx: UnitOfWork, request: KeyedRequest, reply: KeptReply): Promise<void> =>
      tx(async ({ sql, tenantId }) => {
        await sql(
          `update idempotency_key set status = ?, reply = ?
           where tenant_id = ? and subject = ? and method = ? and path = ? and key = ?`,
          [
            reply.status,
            encryption.encrypt(JSON.stringify(reply), replyContext(request)),
            ...identity(request, tenantId),
          ],
        );
      }),

    /** Frees the key after a failure that a repetition may not meet again. */
    free: (tx: UnitOfWork, request: KeyedRequest): Promise<void> =>
      tx(async ({ sql, tenantId }) => {
        await sql(
          `delete from idempotency_key
           where tenant_id = ? and subject = ? and method = ? and path = ? and key = ? and status is null`,
          identity(request, tenantId),
        );
      }),
  };
}
export type Idempotency = ReturnType<typeof createIdempotency>;
