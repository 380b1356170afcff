import { isWorkItemId } from '../work-items/work-item-rules.ts';
import type { TrackerPlatform } from '../work-items/work-tracker.port.ts';

const isSame = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase();

/** What host-b writes before numbers of work items in texts. */
const HOST_B_PREFIX = 'AB';

/**
 * A work item as its tracker's interface names it: people write `#12` or `owner/repo#12`. Undefined for what the tracker
 * cannot have, and for a work item of another repository.
 */
export function itemKeyOf(platform: TrackerPlatform, written: string, repository: string): string | undefined {
  const text = written.trim();
  const [, prefix = '', number] = (platform !== 'tracker-a' && /^([^#]*)#(\d+)$/.exec(text)) || [];
  const isOfProject =
    prefix === '' || isSame(prefix, repository) || (platform === 'host-b' && prefix === HOST_B_PREFIX);
  const key = number ?? text.toUpperCase();
  return isOfProject && isWorkItemId(platform, key) ? key : undefined;
}

/** What a run names as its work item (`workItemRef` of its payload). */
export interface ItemReference {
  type: string;
  key: string;
  repository?: string | undefined;
  organization?: string | undefined;
  project?: string | undefined;
}

/** Kinds of what a run may name that requests are made in. */
const PLATFORM_OF: Partial<Record<string, TrackerPlatform>> = {
  'tracker-a-issue': 'tracker-a',
  'host-a-issue': 'host-a',
  'host-b-workitem': 'host-b',
};
export const platformOfRef = ({ type }: ItemReference): TrackerPlatform | undefined => PLATFORM_OF[type];

/** Key of a work item that a run names; undefined where it names one of another place than the project's. */
export function keyOfRef(ref: ItemReference, repository: string): string | undefined {
  const platform = platformOfRef(ref);
  const [organization = '', project = ''] = repository.split('/');
  const isElsewhere = (given: string | undefined, own: string) => given !== undefined && !isSame(given, own);
  if (platform === undefined || (platform === 'host-a' && isElsewhere(ref.repository, repository))) return undefined;
  if (platform === 'host-b' && (isElsewhere(ref.organization, organization) || isElsewhere(ref.project, project)))
    return undefined;
  return itemKeyOf(platform, ref.key, repository);
}
