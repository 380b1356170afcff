/** Most events to which one webhook subscribes. */
export const EVENTS_MAX = 100;

/** Events that are too frequent for most: their group does not include them, and whoever wants them names them. */
const BY_NAME_ALONE: ReadonlySet<string> = new Set(['flow.progress']);

/** The group of an event is what precedes its first dot: `release.*` of `release.published`; without a dot, and for what is subscribed to by name alone, the event itself. */
export const groupOf = (event: string): string =>
  event.includes('.') && !BY_NAME_ALONE.has(event) ? `${event.split('.', 1)[0]}.*` : event;

export const isGroup = (name: string): boolean => name.endsWith('.*');

/**
 * The event of a webhook's test and of payloads that are queued for it by id: the first that it names, otherwise the first
 * known event of its first group.
 * @param known names of events, sorted.
 */
export function primaryEvent(events: readonly string[], known: readonly string[]): string {
  const [first = ''] = events;
  const named = events.find((name) => !isGroup(name));
  return named ?? known.find((event) => groupOf(event) === first) ?? first.slice(0, -'.*'.length);
}
