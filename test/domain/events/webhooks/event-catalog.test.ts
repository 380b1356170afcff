import { catalogEntries, EVENT_CATALOG, sampleData } from '../../../../domain/events/webhooks/event-catalog.ts';
import type { EventDefinition } from '../../../../domain/events/webhooks/events/event-definition.ts';

const definitions: Record<string, EventDefinition> = EVENT_CATALOG;

test.each(catalogEntries)(
  '$event: its sample fits its schema, its fields are described',
  ({ event, sample, fields }) => {
    expect(definitions[event]?.data.safeParse(sample.data).error).toBeUndefined();
    expect(sample.type).toBe(event);
    for (const field of fields) {
      expect(field).toMatchObject({ type: expect.any(String), description: expect.stringMatching(/\w/) });
      expect(field.example).toBeDefined();
    }
  },
);

test('names are a noun and what happened to it', () => {
  expect(catalogEntries.map(({ event }) => event).filter((event) => !/^[a-z_]+\.[a-z_]+$/.test(event))).toEqual([]);
});

test('paths start at the envelope', () => {
  const published = catalogEntries.find(({ event }) => event === 'release.published');
  expect(published?.fields.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['id', 'type', 'timestamp', 'data.releaseName', 'data.repositoryIdentifier']),
  );
});

test('an event that is not ours has a sample all the same', () => {
  expect(sampleData('push')).toEqual({ message: expect.stringContaining('push') });
});
