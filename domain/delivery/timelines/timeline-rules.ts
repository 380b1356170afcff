import { ABORTED } from '../release-candidates/candidate-status-rules.ts';

/** What a timeline tells of, in the order in which things of the same moment come. */
export const TIMELINE_TYPES = [
  'created',
  'content_changed',
  'run_requested',
  'overridden',
  'approval',
  'locked',
  'deployment',
  'rolled_back',
  'status_changed',
  'superseded',
  'aborted',
  'held',
  'hold_lifted',
  'run_ended',
  'unlocked',
] as const;
export type TimelineType = (typeof TIMELINE_TYPES)[number];

/** Two digits by which items of the same moment are ordered. */
export const rankOf = (type: TimelineType): string => String(TIMELINE_TYPES.indexOf(type)).padStart(2, '0');

interface Moved {
  type: TimelineType;
  status: string | null;
  /** The newer release along with which a candidate was finalized. */
  detail: string | null;
}

/** A change of a candidate's status as what it was; every other item as it is. */
export function shownMove<Item extends Moved>(item: Item): Item {
  if (item.type !== 'status_changed') return item;
  if (item.detail !== null) return { ...item, type: 'superseded', detail: `Superseded by ${item.detail}` };
  return item.status === ABORTED ? { ...item, type: 'aborted' } : item;
}
