import { type ApprovalWithVotes, getApproval, items, listApprovals } from '@quayside/client';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { ask } from '../../kernel/data/ask.ts';
import { client } from '../../kernel/data/client.ts';
import { byDecision, decidedStatuses } from './inbox-rules.ts';

export interface InboxFilters {
  project: string | undefined;
  environment: string | undefined;
}

export interface Inbox {
  items: ApprovalWithVotes[];
  /** There are more. */
  isCut: boolean;
}

/** The service says what would change of so many at once. */
const PAGE = 50;
/** More than a person looks through; the page says that there are more. */
const SHOWN_MAX = 500;

const queryOf = ({ project, environment }: InboxFilters) => ({
  ...(project && { repositoryIdentifier: project }),
  ...(environment && { environment }),
});

/** All open ones, the oldest first: what waits for a person is on no second page. */
export const openApprovalsQuery = (filters: InboxFilters, isMine: boolean) =>
  queryOptions<Inbox>({
    queryKey: ['approvals', 'open', isMine, filters],
    async queryFn({ signal }) {
      const query = { sort: 'requestedAt' as const, limit: PAGE, includeChanges: true, ...queryOf(filters) };
      const found: ApprovalWithVotes[] = [];
      const all = items(listApprovals, { client, signal, query: { ...query, ...(isMine && { mine: true }) } });
      for await (const approval of all) if (found.push(approval) > SHOWN_MAX) break;
      return { items: found.slice(0, SHOWN_MAX), isCut: found.length > SHOWN_MAX };
    },
    placeholderData: keepPreviousData,
    meta: { topics: ['approval'], isList: true },
  });

const DECIDED_SHOWN = 50;

/** The newest of those that were decided, of one outcome or of all. */
export const decidedApprovalsQuery = (filters: InboxFilters, status: string | undefined) =>
  ask(
    ['approvals', 'decided', status, filters],
    async (signal) => {
      const lists = await Promise.all(
        decidedStatuses(status).map((each) =>
          listApprovals({ client, signal, query: { status: each, limit: DECIDED_SHOWN, ...queryOf(filters) } }),
        ),
      );
      const failed = lists.find(({ error }) => error !== undefined);
      if (failed?.error) return { data: undefined, error: failed.error };
      const found = lists.flatMap(({ data }) => data?.items ?? []).toSorted(byDecision);
      const isCut = lists.reduce((sum, { data }) => sum + (data?.total ?? 0), 0) > DECIDED_SHOWN;
      return { data: { items: found.slice(0, DECIDED_SHOWN), isCut }, error: undefined };
    },
    { topics: ['approval'], isList: true },
  );

/** How many wait for who is signed in, over all projects. */
export const waitingCountQuery = ask(
  ['approvals', 'waiting'],
  (signal) => listApprovals({ client, signal, query: { mine: true, limit: 1 } }),
  { topics: ['approval'], isList: true },
);

export const approvalQuery = (id: string) =>
  ask(['approval', id], (signal) => getApproval({ client, signal, path: { id } }), { topics: ['approval'] });
