import type pg from 'pg';
import type { Tx } from '../unit-of-work.ts';
import { emitEvent } from '../webhooks/emit.queries.ts';

export interface ExpiringToken {
  id: string;
  tenantId: string;
}

/** Tokens of all tenants that expire soon and of which nobody was told; the next to expire first, at most 100. */
export async function expiringTokens(systemPool: pg.Pool): Promise<ExpiringToken[]> {
  const { rows } = await systemPool.query<ExpiringToken>(
    'select id, tenant_id as "tenantId" from expiring_application_tokens()',
  );
  return rows;
}

/** Announces that a token of the tenant expires soon; once, however often it is asked for. */
export async function announceExpiry(tx: Tx, id: string): Promise<void> {
  const [token] = await tx.sql<{
    id: string;
    name: string;
    expiresAt: string;
    lastUsedAt: string | null;
    createdBy: string;
  }>(
    `update application_token set expiry_announced_at = now(), updated_at = now()
     where tenant_id = ? and id = ? and revoked_at is null and expiry_announced_at is null and expires_at > now()
     returning id, name, expires_at as "expiresAt", last_used_at as "lastUsedAt", created_by as "createdBy"`,
    [tx.tenantId, id],
  );
  if (!token) return;
  const expiresAt = new Date(token.expiresAt).toISOString();
  emitEvent(tx, 'application_token.expiring', {
    ...token,
    expiresAt,
    lastUsedAt: token.lastUsedAt === null ? null : new Date(token.lastUsedAt).toISOString(),
  });
  tx.audit({
    source: 'user',
    action: 'application_token.expiry_announced',
    entityType: 'application_token',
    entityId: id,
    summary: `Announced that the application token ${token.name} expires at ${expiresAt}`,
  });
}
