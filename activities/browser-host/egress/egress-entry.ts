import type { TimelineEntry } from '../../../domain/review/browser-sessions/session-changes.queries.ts';
import type { EgressCounts } from '../chromium/browser.ts';

const HOSTS_MAX = 50;

/** What goes to the timeline of a session at its end: the hosts that it asked, those of most connections first. */
export function egressEntry({ connections, bytes, allowed, refused }: EgressCounts): TimelineEntry {
  return {
    kind: 'egress',
    summary: `hosts reached: ${allowed.size}, in ${connections} connections; hosts refused: ${refused.size}`,
    data: { connections, bytes, allowed: mostAsked(allowed), refused: mostAsked(refused) },
  };
}

const mostAsked = (counts: ReadonlyMap<string, number>) =>
  [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, HOSTS_MAX)
    .map(([host, connections]) => ({ host, connections }));
