import type { AttentionItem } from '@quayside/client';

type Item = Pick<AttentionItem, 'kind' | 'action' | 'repositoryIdentifier'>;

const idIn = (path: string, before: string): string | undefined =>
  decodeURIComponent(path.split(`/${before}/`)[1]?.split('/')[0] ?? '') || undefined;

const PAGES: Partial<Record<Item['kind'], (path: string) => string>> = {
  run_failed: (path) => `/runs/${idIn(path, 'runs')}`,
  approval_expiring: () => '/inbox',
  lock_overdue: (path) => `/environments/${idIn(path, 'environments')}`,
};

/** The page of the console where the thing is, and where its action is done; undefined: there is none yet. */
export const pageOf = ({ kind, action }: Item): string | undefined => PAGES[kind]?.(action.path);

/** Operations that the request alone does: they answer nothing that must be kept. */
const DONE_BY_REQUEST = new Set(['rerunFlowRun', 'recoverWebhookDeliveries', 'fetchProjectMirror']);

/** Whether the action is done by a request, with the body that is known. */
export const isDoneByRequest = ({ action }: Pick<Item, 'action'>): boolean =>
  action.isAllowed && DONE_BY_REQUEST.has(action.operation);

/** The body of the action's request; undefined: it has none. */
export const bodyOf = ({ action, since }: Pick<AttentionItem, 'action' | 'since'>): { since: string } | undefined =>
  action.operation === 'recoverWebhookDeliveries' ? { since } : undefined;

/** Whether the request is complete: one that changes members needs a body that only a person knows. */
export const isWholeRequest = ({ action }: Pick<Item, 'action'>): boolean => !['PATCH', 'PUT'].includes(action.method);

/** What an empty list says: nothing of what was asked for, or nothing at all, which is known only if everything was asked. */
export function emptinessOf(
  filters: { project: string | undefined; kind: string | undefined },
  incompleteKinds: readonly string[],
): 'nothing' | 'noMatch' | 'unknown' {
  const isIncomplete = filters.kind === undefined ? incompleteKinds.length > 0 : incompleteKinds.includes(filters.kind);
  if (isIncomplete) return 'unknown';
  return filters.kind === undefined && filters.project === undefined ? 'nothing' : 'noMatch';
}
