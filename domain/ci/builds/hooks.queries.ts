import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Platform } from '../../projects/projects/projects.entities.ts';
import type { Tx } from '../../unit-of-work.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';
import type { HookDelivery } from '../../projects/integrations/hook-signature.ts';

/**
 * Projects of any tenant with this repository, and the encrypted secrets with which their hooks may be signed: a hook
 * names no tenant.
 */
export const hookSecrets = ({ db }: Pick<Reads, 'db'>, host: Platform, repositoryIdentifier: string) =>
  db
    .selectFrom(
      sql<{
        tenantId: string;
        projectId: string;
        secret: string;
      }>`hook_secrets_of(${host}, ${repositoryIdentifier})`.as('s'),
    )
    .select(['s.tenantId', tenantSlugOf('s.tenantId'), 's.projectId', 's.secret'])
    .execute();

/** Notes a hook; false when it came before, under its own name or, replayed, under another. */
export async function insertHookDelivery(
  { db, tenantId }: Pick<Tx, 'db' | 'tenantId'>,
  projectId: string,
  delivery: HookDelivery,
): Promise<boolean> {
  const inserted = await db
    .insertInto('hook_delivery')
    .values({ tenantId, projectId, ...delivery })
    .onConflict((conflict) => conflict.doNothing())
    .returning('deliveryId')
    .execute();
  return inserted.length > 0;
}

/** Replaces the secret for the hooks of a project; the one before it stays valid for `overlapHours` more. */
export async function replaceHookSecret(
  { db, tenantId, actor }: Pick<Tx, 'db' | 'tenantId' | 'actor'>,
  projectId: string,
  secret: string,
  overlapHours: number,
): Promise<void> {
  await db
    .insertInto('hook_secret')
    .values({ tenantId, projectId, secret, createdBy: actor.email })
    .onConflict((conflict) =>
      conflict.columns(['tenantId', 'projectId']).doUpdateSet((eb) => ({
        previousSecret: overlapHours > 0 ? eb.ref('hook_secret.secret') : null,
        previousUntil: sql<string>`now() + make_interval(hours => ${overlapHours})`,
        secret: eb.ref('excluded.secret'),
        createdBy: eb.ref('excluded.createdBy'),
        createdAt: sql<string>`now()`,
      })),
    )
    .execute();
}
