import { type QueryCreator, sql } from 'kysely';
import { json, type JsonText } from '../../kernel/data/columns.ts';
import { type Slots, statement } from '../../kernel/data/statement.ts';
import type { Database, Tables } from '../../kernel/data/tables.ts';

/** An event on its way to its subscribers. */
export interface Announcement {
  event: string;
  data: unknown;
}

export interface TracedAnnouncement extends Announcement {
  /** W3C `traceparent` of what caused it. */
  traceparent: string | undefined;
}

/** Events that are enqueued together. */
export interface Enqueued {
  tenantId: string;
  events: JsonText<readonly TracedAnnouncement[]>;
}

const EVENT = sql<string>`announced.item->>'event'`;

/** Makes a pending delivery per event and active webhook that subscribes to it, in the order of the events. */
export const enqueuing = (db: QueryCreator<Tables>, { tenantId, events }: Slots<Enqueued>) =>
  db
    .insertInto('webhook_delivery')
    .columns(['id', 'tenantId', 'webhookId', 'event', 'payload', 'traceparent'])
    .expression((eb) =>
      eb
        .selectFrom(
          sql<{ item: unknown; place: string }>`json_array_elements(${events}::json) with ordinality`.as<'announced'>(
            sql`announced (item, place)`,
          ),
        )
        .innerJoin('webhook_subscription as s', (join) =>
          join.on('s.tenantId', '=', tenantId).on('s.event', 'in', sql<string>`(${EVENT}, event_group(${EVENT}))`),
        )
        .orderBy('announced.place')
        .select([
          sql<string>`uuidv7()`.as('id'),
          's.tenantId',
          's.webhookId as webhook_id',
          EVENT.as('event'),
          sql<never>`announced.item->'data'`.as('payload'),
          sql<string | null>`announced.item->>'traceparent'`.as('traceparent'),
        ]),
    )
    .returning('webhookId');

const ENQUEUE = statement<Enqueued>()(enqueuing);

export const enqueueParameters = (tenantId: string, events: readonly TracedAnnouncement[]): Enqueued => ({
  tenantId,
  events: json(events),
});

/** One pending delivery per event and active webhook that subscribes to it, in the order of the events; answers the webhooks. */
export async function enqueueEvents(
  db: Database,
  tenantId: string,
  events: readonly TracedAnnouncement[],
): Promise<string[]> {
  const rows = await ENQUEUE(db, enqueueParameters(tenantId, events));
  return rows.map(({ webhookId }) => webhookId);
}
