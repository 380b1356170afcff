import { useState } from 'react';
import { useMe } from '../../kernel/data/me.ts';
import { type SavedView, viewsIn } from './saved-views-rules.ts';

const keyOf = (tenant: string): string => `quayside.run-views.${tenant}`;

function kept(tenant: string): SavedView[] {
  try {
    return viewsIn(localStorage.getItem(keyOf(tenant)));
  } catch {
    return [];
  }
}

/** The views that this browser keeps for the tenant, and how to keep others: false, where it keeps nothing. */
export function useSavedViews(): [readonly SavedView[], (views: readonly SavedView[]) => boolean] {
  const { tenant } = useMe();
  const [views, setViews] = useState(() => kept(tenant.slug));
  const keep = (next: readonly SavedView[]): boolean => {
    setViews([...next]);
    try {
      localStorage.setItem(keyOf(tenant.slug), JSON.stringify(next));
      return true;
    } catch {
      return false;
    }
  };
  return [views, keep];
}
