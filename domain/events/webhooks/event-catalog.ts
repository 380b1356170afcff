import { z } from 'zod';
import type { Tx } from '../../unit-of-work.ts';
import { accountEvents } from './events/account.events.ts';
import { analysisEvents } from './events/analysis.events.ts';
import { environmentEvents } from './events/environment.events.ts';
import type { EventDefinition } from './events/event-definition.ts';
import { flowEvents } from './events/flow.events.ts';
import { mockEvents } from './events/mock.events.ts';
import { releaseEvents } from './events/release.events.ts';

/** Every event that the service itself emits. */
export const EVENT_CATALOG = {
  ...accountEvents,
  ...releaseEvents,
  ...analysisEvents,
  ...environmentEvents,
  ...flowEvents,
  ...mockEvents,
} satisfies Record<string, EventDefinition>;

export type EventName = keyof typeof EVENT_CATALOG;
/** The data of an event; it becomes `data` of the body that is sent. */
export type EventData<E extends EventName> = z.input<(typeof EVENT_CATALOG)[E]['data']>;

/**
 * Announces an event: one pending delivery for every active webhook that subscribes to it, in the caller's
 * transaction. What is rolled back is not announced.
 */
export function emitEvent<E extends EventName>(tx: Tx, event: E, data: EventData<E>): void {
  tx.announce({ event, data });
}

/** A field that templates and filters can use. */
export interface CatalogField {
  /** Starts at the envelope: `type`, `data.releaseName`. */
  path: string;
  type: string;
  description: string;
  example: unknown;
}

export interface CatalogEntry {
  event: string;
  description: string;
  fields: CatalogField[];
  /** An envelope as it would be sent. */
  sample: Envelope;
}

/** The body of a delivery that has no template. */
export interface Envelope {
  /** Id of the delivery; the same for all its attempts. */
  id: string;
  type: string;
  /** ISO 8601: when the event occurred. */
  timestamp: string;
  data: Record<string, unknown>;
}

interface FieldSchema {
  type?: string;
  anyOf?: FieldSchema[];
  items?: FieldSchema;
  properties?: Record<string, FieldSchema>;
  description?: string;
  example?: unknown;
}

const SAMPLE_ID = '0195a3c2-0f5d-7a11-8a52-3b1f6c7d8e90';
const SAMPLE_TIME = '2026-03-02T09:30:01.250Z';

const envelopeFields = (event: string): CatalogField[] => [
  { path: 'id', type: 'string', description: 'Id of the delivery; the same for all its attempts', example: SAMPLE_ID },
  { path: 'type', type: 'string', description: 'Name of the event', example: event },
  { path: 'timestamp', type: 'string', description: 'When the event occurred, ISO 8601 UTC', example: SAMPLE_TIME },
];

/** The catalog as clients read it, by event name. Built once. */
export const catalogEntries: readonly CatalogEntry[] = Object.entries<EventDefinition>(EVENT_CATALOG)
  .map(([event, { description, data }]): CatalogEntry => {
    const fields = fieldsOf('data', z.toJSONSchema(data, { io: 'input' }) as FieldSchema);
    const sample = { id: SAMPLE_ID, type: event, timestamp: SAMPLE_TIME, data: sampleOf(fields) };
    return { event, description, fields: [...envelopeFields(event), ...fields], sample };
  })
  .toSorted((a, b) => (a.event < b.event ? -1 : 1));

/** Names of all events in the catalog, sorted. */
export const catalogNames: readonly string[] = catalogEntries.map(({ event }) => event);

const sampleByEvent = new Map(catalogEntries.map(({ event, sample }) => [event, sample]));

/** An event as it would be sent; of one that the service does not emit, with a message. */
export const sampleEnvelope = (event: string): Envelope =>
  sampleByEvent.get(event) ?? {
    id: SAMPLE_ID,
    type: event,
    timestamp: SAMPLE_TIME,
    data: { message: `A test of a webhook that subscribes to ${event}` },
  };

/** Data to test a webhook with; for an event that the service does not emit, a message. */
export const sampleData = (event: string): Record<string, unknown> => sampleEnvelope(event).data;

function fieldsOf(prefix: string, { properties = {} }: FieldSchema): CatalogField[] {
  return Object.entries(properties).map(([name, schema]) => ({
    path: `${prefix}.${name}`,
    type: typeOf(schema),
    description: describedBy(schema, 'description') as string,
    example: describedBy(schema, 'example'),
  }));
}

function typeOf({ type, anyOf, items }: FieldSchema): string {
  if (anyOf) return anyOf.map(typeOf).join(' | ');
  return type === 'array' && items ? `array of ${typeOf(items)}` : (type ?? 'any');
}

/** A nullable schema carries its description on the variant that is not null. */
function describedBy(schema: FieldSchema, member: 'description' | 'example'): unknown {
  return schema[member] ?? schema.anyOf?.map((variant) => variant[member]).find((value) => value !== undefined);
}

function sampleOf(fields: readonly CatalogField[]): Record<string, unknown> {
  return Object.fromEntries(fields.map(({ path, example }) => [path.slice('data.'.length), example]));
}
