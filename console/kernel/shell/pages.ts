import type { OperationId } from '@quayside/client';
import type { ComponentType } from 'react';
import { InboxBadge } from '../../delivery/approvals/inbox-badge.tsx';
import { t } from '../../messages/messages.ts';

export interface ShownPage {
  to: string;
  name: string;
  /** Key after `g` that leads to it. */
  key?: string;
  /** Shown to whom this operation is open. */
  operation?: OperationId;
  /** A number beside its name. */
  Badge?: ComponentType;
}

/** The pages of the navigation, in its order. */
const PAGES: readonly ShownPage[] = [
  { to: '/', name: t.shell.attention, key: 'a' },
  { to: '/where', name: t.shell.where, key: 'w', operation: 'getReleaseMatrix' },
  { to: '/candidates', name: t.shell.candidates, key: 'c', operation: 'listReleaseCandidates' },
  { to: '/inbox', name: t.shell.inbox, key: 'i', operation: 'listApprovals', Badge: InboxBadge },
  { to: '/environments', name: t.shell.environments, key: 'e' },
  { to: '/runs', name: t.shell.runs, key: 'r', operation: 'listFlowRuns' },
  { to: '/work-items', name: t.workItems.title, operation: 'locateWorkItem' },
  { to: '/hotfix', name: t.hotfix.title, operation: 'compareSides' },
];

/** The pages of the navigation that are open to a role. */
export const pagesFor = (can: (operation: OperationId) => boolean): readonly ShownPage[] =>
  PAGES.filter(({ operation }) => !operation || can(operation));
