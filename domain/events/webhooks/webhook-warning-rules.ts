import { parsePath } from '../../kernel/json/json-path-rules.ts';
import { didYouMean } from '../../kernel/text/suggestion-rules.ts';
import { type Warning, warning, WARNINGS_MAX } from '../../kernel/shared/warning-rules.ts';
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
  const hasPath = pathTest(fields);
  const isUnknown = (path: readonly string[]) => !hasPath(path);
  const unknownPath = (place: readonly string[], path: string) =>
    warning(
      'unknown_path',
      ['config', ...place],
      `No event to which the webhook subscribes has ${path}${didYouMean(path, known)}`,
    );
  const unknownEvent = (event: string) =>
    warning(
      'unknown_event',
      ['events', events.indexOf(event)],
      `The service emits no event ${event}${didYouMean(event, isGroup(event) ? groups : names)}`,
    );
  const unknownEvents = events.filter((event) => !isEmitted(event) && !ofClients.includes(event));
  const filtered = Object.keys(filter).filter((path) => isUnknown(parsePath(path) ?? []));
  const rendered = new Set(templatePaths.filter(isUnknown).map((path) => path.join('.')));
  return [
    ...unknownEvents.slice(0, WARNINGS_MAX).map(unknownEvent),
    ...filtered.slice(0, WARNINGS_MAX).map((path) => unknownPath(['filter', path], path)),
    ...[...rendered].slice(0, WARNINGS_MAX).map((path) => unknownPath(['body'], path)),
  ];
}

const ENVELOPE = [
  ...['id', 'type', 'timestamp'].map((path) => ({ path, type: 'string' })),
  { path: 'data', type: 'object' },
];

/** Tests whether a path leads to one of some fields, to what is around it, or into it. */
function pathTest(fields: EmittedEvent['fields']): (path: readonly string[]) => boolean {
  const around = new Set<string>();
  const open = new Set<string>();
  for (const { path, type } of fields) {
    for (const prefix of prefixes(path.split('.'))) around.add(prefix);
    if (/object|array|any/.test(type)) open.add(path.replaceAll('.', SEPARATOR));
  }
  return (path) =>
    path.length === 0 || around.has(path.join(SEPARATOR)) || prefixes(path).some((prefix) => open.has(prefix));
}

/** No segment has it, while one of a filter may have a dot. */
const SEPARATOR = '\0';

const prefixes = (path: readonly string[]): string[] =>
  path.map((_, index) => path.slice(0, index + 1).join(SEPARATOR));
