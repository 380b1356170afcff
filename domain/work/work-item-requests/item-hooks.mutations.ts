import type { Tx } from '../../unit-of-work.ts';
import { isPlaceWithin, itemsPlace, type ItemsPlace, trackerOf } from '../work-items/tracker-place-rules.ts';
import { placeOfItems } from '../work-items/work-items.queries.ts';
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
 * in that place.
 * @param sender whose secret the hook was signed with: it speaks for the project's repository, and for where the
 * project's work items are.
 */
export async function noteHookedItem(tx: Tx, sender: Sender, news: WorkItemNews): Promise<void> {
  const { platform, workItemKey, isClosed, place: said } = news;
  const places = [
    await placeOfItems(tx, platform, sender),
    sender.platform === platform ? itemsPlace(platform, sender.identifier, {}) : undefined,
  ];
  const place = places.find((each) => each && isPlaceWithin(said, each));
  if (!place) return;
  for (const project of await projectsWithItem(tx, { platform, workItemKey })) {
    if (project.platform !== platform && trackerOf(project) !== platform) continue;
    const own = await placeOfItems(tx, platform, project);
    if (!own || !isSamePlace(own, place)) continue;
    const item = { projectId: project.id, platform, workItemKey };
    await noteItemState(tx, project, { ...item, isClosed, at: new Date(news.at) });
  }
}

const isSamePlace = (one: ItemsPlace, other: ItemsPlace): boolean =>
  isPlaceWithin(one, other) && isPlaceWithin(other, one);
