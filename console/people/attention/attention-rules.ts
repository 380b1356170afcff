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

/** Whether the action is done by the request alone: it takes no body, and answers nothing that must be kept. */
export const isDoneByRequest = ({ action }: Item): boolean =>
  action.isAllowed && ['rerunFlowRun', 'recoverWebhookDeliveries', 'fetchProjectMirror'].includes(action.operation);
