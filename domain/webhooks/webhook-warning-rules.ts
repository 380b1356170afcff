import { parsePath } from '../shared/json-path-rules.ts';
import { didYouMean } from '../shared/suggestion-rules.ts';
import { type Warning, warning, WARNINGS_MAX } from '../shared/warning-rules.ts';
import { groupOf, isGroup } from './subscription-rules.ts';

/** An event that the service emits, with the fields of its envelope. */
export interface EmittedEvent {
  event: string;
  fields: readonly { path: string; type: string }[];
}

interface CheckedWebhook {
  events: readonly string[];
  filter: Readonly<Record<string, unknown>>;
  /** Paths of the body template. */
  templatePaths: readonly (readonly string[])[];
}

/**
 * What a webhook waits for, or names, that no event of the catalog has.
 * @param ofClients names of events that only clients queue, as is known.
 */
export function webhookWarnings(
  { events, filter, templatePaths }: CheckedWebhook,
  catalog: readonly EmittedEvent[],
  ofClients: readonly string[] = [],
): Warning[] {
  const names = catalog.map(({ event }) => event);
  const groups = [...new Set(names.map(groupOf))];
  const isEmitted = (event: string) => names.includes(event) || groups.includes(event);
  const subscribed = catalog.filter(({ event }) => events.includes(event) || events.includes(groupOf(event)));
  // The fields of events that clients queue are theirs to choose.
  const fields = events.every(isEmitted) ? subscribed.flatMap((each) => each.fields) : ENVELOPE;
  const known = [...new Set(fields.map(({ path }) => path))];
  const isUnknown = (path: readonly string[]) => !fields.some((field) => hasPath(field, path));
  const unknownPath = (place: readonly string[], path: string) =>
    warning(
      'unknown_path',
      ['config', ...place],
      `No event to which the webhook subscribes has ${path}${didYouMean(path, known)}`,
    );
  const unknownEvents = events.flatMap((event, index) =>
    isEmitted(event) || ofClients.includes(event)
      ? []
      : warning(
          'unknown_event',
          ['events', index],
          `The service emits no event ${event}${didYouMean(event, isGroup(event) ? groups : names)}`,
        ),
  );
  const filtered = Object.keys(filter).filter((path) => isUnknown(parsePath(path) ?? []));
  const rendered = new Set(templatePaths.filter(isUnknown).map((path) => path.join('.')));
  return [
    ...unknownEvents.slice(0, WARNINGS_MAX),
    ...filtered.slice(0, WARNINGS_MAX).map((path) => unknownPath(['filter', path], path)),
    ...[...rendered].slice(0, WARNINGS_MAX).map((path) => unknownPath(['body'], path)),
  ];
}

const ENVELOPE = [
  ...['id', 'type', 'timestamp'].map((path) => ({ path, type: 'string' })),
  { path: 'data', type: 'object' },
];

/** Whether a path leads to a field, to what is around it, or into it. */
function hasPath({ path, type }: { path: string; type: string }, wanted: readonly string[]): boolean {
  const segments = path.split('.');
  const isSame = segments.slice(0, wanted.length).every((segment, index) => segment === wanted[index]);
  return isSame && (wanted.length <= segments.length || /object|array|any/.test(type));
}
