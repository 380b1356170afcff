/** An event on its way to its subscribers. */
export interface Announcement {
  event: string;
  data: unknown;
}

/**
 * One pending delivery per event and active webhook that subscribes to it, in the order of the events; answers the
 * webhooks. Parameters: see `enqueueParameters`.
 */
export const ENQUEUE_EVENTS = `
  insert into webhook_delivery (id, tenant_id, webhook_id, event, payload, traceparent)
  select uuidv7(), w.tenant_id, w.id, w.event, announced.item->'data', ?::text
  from json_array_elements(?::json) with ordinality as announced (item, place)
  join webhook w on w.tenant_id = ?::uuid and w.event = announced.item->>'event' and w.status = 'active' and w.deleted_at is null
  order by announced.place
  returning webhook_id as "webhookId"`;

export const enqueueParameters = (
  tenantId: string,
  announced: readonly Announcement[],
  traceparent: string | undefined,
) => [traceparent ?? null, JSON.stringify(announced), tenantId];
