import { isLocationWithin, type ItemsLocation } from '../work-items/tracker-location-rules.ts';
import { isWorkItemId } from '../work-items/work-item-rules.ts';
import type { TrackerPlatform } from '../work-items/work-tracker.port.ts';

/** What host-b writes before numbers of work items in texts. */
const HOST_B_PREFIX = 'AB';

/**
 * A work item as its tracker's interface names it: people write `#12` or `owner/repo#12`. Undefined for what the tracker
 * cannot have, and for a work item of another location.
 * @param location of the project's work items; without it only keys that name no location are understood.
 */
export function itemKeyOf(
  platform: TrackerPlatform,
  written: string,
  location: ItemsLocation | undefined,
): string | undefined {
  const text = written.trim();
  const [, prefix = '', number] = (platform !== 'tracker-a' && /^([^#]*)#(\d+)$/.exec(text)) || [];
  const key = number ?? text.toUpperCase();
  return isWorkItemId(platform, key) && isPrefixOf(platform, prefix, location) ? key : undefined;
}

/** How people may have written a key of a work item of the location, as `itemKeyOf` understands it. */
export function spellingsOf(platform: TrackerPlatform, key: string, location: ItemsLocation | undefined): string[] {
  if (platform === 'tracker-a') return [key, key.toLowerCase()];
  const { repository, organization, project } = location ?? {};
  const prefixes = platform === 'host-a' ? ['', repository] : ['', HOST_B_PREFIX, `${organization}/${project}`];
  return [key, ...prefixes.flatMap((prefix) => (prefix === undefined ? [] : `${prefix}#${key}`))];
}

/** Whether a key with this prefix is of the location: `owner/repo`, on host-b `AB` or `organization/project`. */
function isPrefixOf(platform: TrackerPlatform, prefix: string, location: ItemsLocation | undefined): boolean {
  if (prefix === '' || (platform === 'host-b' && prefix === HOST_B_PREFIX)) return true;
  if (!location) return false;
  if (platform === 'host-a') return isLocationWithin({ repository: prefix }, location);
  const [organization = '', project = ''] = prefix.split('/');
  return isLocationWithin({ organization, project }, location);
}

/** What a run names as its work item (`workItemRef` of its payload). */
export interface ItemReference {
  type: string;
  key: string;
  repository?: string | undefined;
  organization?: string | undefined;
  project?: string | undefined;
}

/** The kind of what a run names, by where requests are made. */
export const REF_TYPES = {
  'tracker-a': 'tracker-a-issue',
  'host-a': 'host-a-issue',
  'host-b': 'host-b-workitem',
} as const satisfies Record<TrackerPlatform, string>;

const PLATFORM_OF = new Map<string, TrackerPlatform>(
  Object.entries(REF_TYPES).map(([platform, type]) => [type, platform as TrackerPlatform]),
);
export const platformOfRef = ({ type }: ItemReference): TrackerPlatform | undefined => PLATFORM_OF.get(type);

/** Key of a work item that a run names; undefined where it names one of another location than the project's. */
export function keyOfRef(ref: ItemReference, location: ItemsLocation | undefined): string | undefined {
  const platform = platformOfRef(ref);
  if (platform === undefined || !isLocationWithin(locationOfRef(platform, ref), location ?? {})) return undefined;
  return itemKeyOf(platform, ref.key, location);
}

function locationOfRef(platform: TrackerPlatform, { repository, organization, project }: ItemReference): ItemsLocation {
  if (platform === 'host-a') return repository === undefined ? {} : { repository };
  if (platform === 'tracker-a') return {};
  return { ...(organization !== undefined && { organization }), ...(project !== undefined && { project }) };
}
