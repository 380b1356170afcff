import type { Tx } from '../../unit-of-work.ts';
import {
  isLocationWithin,
  itemsLocation,
  type ItemsLocation,
  trackerOf,
} from '../work-items/tracker-location-rules.ts';
import { locationOfItems } from '../work-items/work-items.queries.ts';
import type { WorkItemNews } from './item-hooks-rules.ts';
import { noteItemState } from './work-item-requests.mutations.ts';
import { projectsWithItem } from './requests-of-items.queries.ts';

interface Sender {
  id: string;
  identifier: string;
  platform: string;
}

/**
 * Takes what a hook says of a work item to the requests that were made in it, of all projects that keep their work items
 * in that location.
 * @param sender whose secret the hook was signed with: it speaks for the project's repository, and for where the
 * project's work items are.
 */
export async function noteHookedItem(tx: Tx, sender: Sender, news: WorkItemNews): Promise<void> {
  const { platform, workItemKey, isClosed, location: said } = news;
  const locations = [
    await locationOfItems(tx, platform, sender),
    sender.platform === platform ? itemsLocation(platform, sender.identifier, {}) : undefined,
  ];
  const location = locations.find((each) => each && isLocationWithin(said, each));
  if (!location) return;
  for (const project of await projectsWithItem(tx, { platform, workItemKey })) {
    if (project.platform !== platform && trackerOf(project) !== platform) continue;
    const own = await locationOfItems(tx, platform, project);
    if (!own || !isSameLocation(own, location)) continue;
    const item = { projectId: project.id, platform, workItemKey };
    await noteItemState(tx, project, { ...item, isClosed, at: new Date(news.at) });
  }
}

const isSameLocation = (one: ItemsLocation, other: ItemsLocation): boolean =>
  isLocationWithin(one, other) && isLocationWithin(other, one);
