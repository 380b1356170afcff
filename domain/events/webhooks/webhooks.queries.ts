import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import { SHOWN_COLUMNS } from './webhook-settings.ts';

/** Most webhooks of a tenant: the list is not paged. */
export const WEBHOOKS_MAX = 1_000;

/** The tenant's webhooks, oldest first. */
export const listWebhooks = ({ db, tenantId }: Reads) =>
  db
    .selectFrom('webhook')
    .where('tenantId', '=', tenantId)
    .where('deletedAt', 'is', null)
    .orderBy('createdAt')
    .orderBy('id')
    .limit(WEBHOOKS_MAX)
    .select(SHOWN_COLUMNS)
    .execute();

export async function countWebhooks({ db, tenantId }: Reads): Promise<number> {
  const { total } = await db
    .selectFrom('webhook')
    .where('tenantId', '=', tenantId)
    .where('deletedAt', 'is', null)
    .select((eb) => eb.fn.countAll().as('total'))
    .executeTakeFirstOrThrow();
  return Number(total);
}

/** A webhook that is not deleted. Throws `not_found`. */
export async function webhookById({ db }: Reads, id: string) {
  const webhook = await db
    .selectFrom('webhook')
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .select(SHOWN_COLUMNS)
    .executeTakeFirst();
  if (!webhook) throw notFound('The webhook');
  return webhook;
}
