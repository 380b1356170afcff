import type { Address } from '../../kernel/data/address.ts';

/** Filters that are kept under a name. */
export interface SavedView {
  name: string;
  search: Address;
}

/** The count of each is a question of its own. */
export const VIEWS_MAX = 8;
export const VIEW_NAME_MAX = 60;

/** Parameters of the address that are filters of runs. */
export const FILTERS = ['project', 'status', 'type', 'environment', 'release', 'who', 'since'] as const;

/** The filters alone, without the page that one is at. */
export const filtersIn = (address: Address): Address =>
  Object.fromEntries(FILTERS.flatMap((name) => (address[name] ? [[name, address[name]]] : [])));

const isView = (value: unknown): value is SavedView =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  typeof value.name === 'string' &&
  'search' in value &&
  typeof value.search === 'object' &&
  value.search !== null &&
  Object.values(value.search).every((each) => typeof each === 'string');

/** Views as the browser has kept them; whatever else stands there is none. */
export function viewsIn(kept: string | null): SavedView[] {
  try {
    const found: unknown = JSON.parse(kept ?? '[]');
    return Array.isArray(found) ? found.filter(isView).slice(0, VIEWS_MAX) : [];
  } catch {
    return [];
  }
}

/** The views with one more; one of the same name is replaced, where it stands. */
export function withView(views: readonly SavedView[], view: SavedView): SavedView[] {
  const at = views.findIndex(({ name }) => name === view.name);
  return at < 0 ? [...views, view] : views.with(at, view);
}
