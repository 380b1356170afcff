import { hashSecret, newApplicationToken } from '../auth/secrets.ts';
import { DomainError } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import type { Tx } from '../unit-of-work.ts';

export interface ApplicationTokenRow {
  id: string;
  name: string;
  /** Identifiers of the only projects that it sees; null: all. */
  projects: string[] | null;
  createdAt: string;
  expiresAt: string;
  lastUsedAt: string | null;
  createdBy: string;
}

const COLUMNS = `t.id, t.name, t.created_at as "createdAt", t.expires_at as "expiresAt", t.last_used_at as "lastUsedAt",
  t.created_by as "createdBy",
  case when t.project_ids is not null then
    array(select identifier from project where id = any (t.project_ids) order by identifier) end as projects`;

/** Live and expired tokens of the tenant, not the revoked ones; newest first. At most 1,000. */
export const listApplicationTokens = ({ sql }: Tx): Promise<ApplicationTokenRow[]> =>
  sql(
    `select ${COLUMNS} from application_token t where t.revoked_at is null order by t.created_at desc, t.id desc limit 1000`,
  );

export interface NewToken {
  name: string;
  expiresInDays: number;
  /** Ids of projects; absent: all. */
  projectIds?: readonly string[] | undefined;
}

/**
 * Makes a token; its text is in the answer alone, the row keeps a hash. A live token of that name: `already_exists`;
 * an expired one gives up its name.
 */
export async function createApplicationToken(
  tx: Tx,
  input: NewToken,
): Promise<ApplicationTokenRow & { token: string }> {
  const token = newApplicationToken();
  await tx.sql(
    `update application_token set revoked_at = now() where name = ? and revoked_at is null and expires_at <= now()`,
    [input.name],
  );
  const [row] = await tx.sql<ApplicationTokenRow>(
    `with made as (
       insert into application_token (id, tenant_id, name, token_hash, project_ids, expires_at, created_by)
       values (?, ?, ?, ?, ?::uuid[], now() + make_interval(days => ?), ?)
       on conflict (tenant_id, name) where revoked_at is null do nothing returning *)
     select ${COLUMNS} from made t`,
    [
      newId(),
      tx.tenantId,
      input.name,
      hashSecret(token),
      input.projectIds ? `{${input.projectIds.join(',')}}` : null,
      input.expiresInDays,
      tx.actor.email,
    ],
  );
  if (!row) throw new DomainError('already_exists', `There is already an application token named ${input.name}`);
  tx.audit({
    source: 'user',
    action: 'application_token.created',
    entityType: 'application_token',
    entityId: row.id,
    summary: `Application token ${row.name} created`,
    after: row,
  });
  return { ...row, token };
}

export interface Replacement {
  /** Days from now on. */
  expiresInDays: number;
  /** Hours for which the old text goes on working. */
  overlapHours: number;
}

/** Gives a live or expired token a new text; undefined when there is none of that id. Replaced again, the text before the last ends at once. */
export async function rotateApplicationToken(
  tx: Tx,
  id: string,
  { expiresInDays, overlapHours }: Replacement,
): Promise<(ApplicationTokenRow & { token: string }) | undefined> {
  const token = newApplicationToken();
  const [row] = await tx.sql<ApplicationTokenRow>(
    `with t as (
       update application_token set
         previous_hash = case when ?::int > 0 then token_hash end, previous_until = now() + make_interval(hours => ?),
         token_hash = ?, expires_at = now() + make_interval(days => ?), rotated_at = now(), expiry_announced_at = null, updated_at = now()
       where tenant_id = ? and id = ? and revoked_at is null returning *)
     select ${COLUMNS} from t`,
    [overlapHours, overlapHours, hashSecret(token), expiresInDays, tx.tenantId, id],
  );
  if (!row) return undefined;
  tx.audit({
    source: 'user',
    action: 'application_token.rotated',
    entityType: 'application_token',
    entityId: id,
    summary: `Application token ${row.name} replaced; the old text works for ${overlapHours} more hours`,
    after: row,
  });
  return { ...row, token };
}

/** Revokes a token: it is refused from the next request on. False when there is none of that id. */
export async function revokeApplicationToken(tx: Tx, id: string): Promise<boolean> {
  const [row] = await tx.sql<{ name: string }>(
    'update application_token set revoked_at = now(), updated_at = now() where id = ? and revoked_at is null returning name',
    [id],
  );
  if (!row) return false;
  tx.audit({
    source: 'user',
    action: 'application_token.revoked',
    entityType: 'application_token',
    entityId: id,
    summary: `Application token ${row.name} revoked`,
  });
  return true;
}
