import { LockMode } from '@mikro-orm/core';
import { sql } from 'kysely';
import { isOneOf } from '../../kernel/data/conditions.ts';
import { hashSecret, newApplicationToken } from '../../kernel/encryption/secrets.ts';
import { peopleBehind } from './requesters.queries.ts';
import { isoOf } from '../../kernel/text/date-time-rules.ts';
import { DomainError, invalidField, notFound } from '../../kernel/shared/errors.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { ApplicationToken } from './application-tokens.entities.ts';
import { applicationTokenById, type ApplicationTokenRow } from './application-tokens.queries.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const later = ({ now }: Tx, ms: number): Date => new Date(now.getTime() + ms);

/** The secret is in the reply to whoever made it and nowhere else: the row keeps a hash. */
export type NewApplicationToken = ApplicationTokenRow & { token: string };

interface TokenInput {
  name: string;
  expiresInDays: number;
  /** Identifiers of the only projects that it sees; absent: all. */
  projects?: readonly string[] | undefined;
}

/** Throws `invalid_request` for an unknown project, `already_exists` when a valid token has the name; an expired one gives it up. */
export async function createApplicationToken(
  tx: Tx,
  { name, expiresInDays, projects }: TokenInput,
): Promise<NewApplicationToken> {
  const { db, tenantId } = tx;
  const [id, token] = [newId(), newApplicationToken()];
  await db
    .updateTable('application_token')
    .set({ revokedAt: sql`now()` })
    .where('tenantId', '=', tenantId)
    .where('name', '=', name)
    .where('revokedAt', 'is', null)
    .where('expiresAt', '<=', sql<string>`now()`)
    .execute();
  const added = await db
    .insertInto('application_token')
    .values({
      id,
      tenantId,
      name,
      tokenHash: hashSecret(token),
      projectIds: projects ? await idsOfProjects(tx, projects) : null,
      expiresAt: later(tx, expiresInDays * DAY_MS),
      createdBy: tx.actor.email,
      peopleIds: await peopleBehind(tx, tx.actor),
    })
    .onConflict((conflict) => conflict.columns(['tenantId', 'name']).where('revokedAt', 'is', null).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!added) throw new DomainError('already_exists', `There is already an application token named ${name}`);
  const row = await applicationTokenById(tx, id);
  note(tx, 'created', row, 'created', row);
  return { ...row, token };
}

async function idsOfProjects({ db, tenantId }: Tx, identifiers: readonly string[]): Promise<string[]> {
  const projects = await db
    .selectFrom('project')
    .where('tenantId', '=', tenantId)
    .where((eb) => isOneOf(eb, 'identifier', identifiers))
    .select(['id', 'identifier'])
    .execute();
  const unknown = identifiers.findIndex((identifier) => !projects.some((project) => project.identifier === identifier));
  if (unknown >= 0)
    throw invalidField(`projects/${unknown}`, `The repository ${identifiers[unknown]} is not registered as a project`);
  return projects.map(({ id }) => id);
}

interface Rotation {
  expiresInDays: number;
  /** For which the previous secret goes on working. */
  overlapHours: number;
}

/**
 * Gives a valid or expired token a new secret. A previous one that still works from a rotation before ends at once.
 * Throws `not_found`.
 */
export async function rotateApplicationToken(
  tx: Tx,
  id: string,
  { expiresInDays, overlapHours }: Rotation,
): Promise<NewApplicationToken> {
  const entity = await lockedToken(tx, id);
  const token = newApplicationToken();
  entity.previousHash = overlapHours > 0 ? entity.tokenHash : null;
  entity.previousUntil = later(tx, overlapHours * HOUR_MS);
  entity.tokenHash = hashSecret(token);
  entity.expiresAt = later(tx, expiresInDays * DAY_MS);
  entity.rotatedAt = tx.now;
  entity.peopleIds = [...new Set([...entity.peopleIds, ...(await peopleBehind(tx, tx.actor))])];
  entity.expiryAnnouncedAt = null;
  await tx.em.flush();
  const row = await applicationTokenById(tx, id);
  note(tx, 'rotated', row, `rotated; the previous secret works for ${overlapHours} more hours`, row);
  return { ...row, token };
}

/** Revokes a token: it is refused from the next request on. Throws `not_found`. */
export async function revokeApplicationToken(tx: Tx, id: string): Promise<void> {
  const entity = await lockedToken(tx, id);
  entity.revokedAt = tx.now;
  note(tx, 'revoked', entity, 'revoked');
}

async function lockedToken({ em, tenantId }: Tx, id: string): Promise<ApplicationToken> {
  const token = await em.findOne(
    ApplicationToken,
    { id, tenantId, revokedAt: null },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (!token) throw notFound('The application token');
  return token;
}

/** Announces that a token expires soon, once: it is left alone when it was announced, revoked, or has expired. */
export async function announceExpiry(tx: Tx, id: string): Promise<void> {
  const token = await tx.db
    .updateTable('application_token')
    .set({ expiryAnnouncedAt: sql`now()`, updatedAt: sql`now()` })
    .where('tenantId', '=', tx.tenantId)
    .where('id', '=', id)
    .where('revokedAt', 'is', null)
    .where('expiryAnnouncedAt', 'is', null)
    .where('expiresAt', '>', sql<string>`now()`)
    .returning(['id', 'name', 'expiresAt', 'lastUsedAt', 'createdBy'])
    .executeTakeFirst();
  if (!token) return;
  const expiresAt = isoOf(token.expiresAt);
  emitEvent(tx, 'application_token.expiring', {
    ...token,
    expiresAt,
    lastUsedAt: token.lastUsedAt === null ? null : isoOf(token.lastUsedAt),
  });
  tx.audit({
    source: 'user',
    action: 'application_token.expiry_announced',
    entityType: 'application_token',
    entityId: id,
    summary: `Announced that the application token ${token.name} expires at ${expiresAt}`,
  });
}

const note = (
  tx: Tx,
  action: 'created' | 'rotated' | 'revoked',
  { id, name }: { id: string; name: string },
  what: string,
  after?: ApplicationTokenRow,
): void =>
  tx.audit({
    source: 'user',
    action: `application_token.${action}`,
    entityType: 'application_token',
    entityId: id,
    summary: `Application token ${name} ${what}`,
    ...(after && { after }),
  });
