import { listFlowRuns, listFlowTypes } from '@quayside/client';
import type { Address } from '../../kernel/data/address.ts';
import { ask } from '../../kernel/data/ask.ts';
import { client } from '../../kernel/data/client.ts';

export const PAGE_ROWS = 50;
const COUNTED_AGAIN_MS = 60_000;

/** What the service is asked for by the filters of an address. */
export const runsQueryOf = ({ project, status, type, environment, release, who, since }: Address) => ({
  ...(project && { repositoryIdentifier: project }),
  ...(status && { status }),
  ...(type && { taskType: type }),
  ...(environment && { environment }),
  ...(release && { release }),
  ...(who && { triggeredBy: who }),
  ...(since && { since }),
});

export const runsQuery = (filters: Address, page: number) =>
  ask(
    ['runs', 'list', filters, page],
    (signal) => listFlowRuns({ client, signal, query: { limit: PAGE_ROWS, page, ...runsQueryOf(filters) } }),
    { isList: true, topics: ['flow_run'] },
  );

/** How many there are of each status, whatever status is chosen. */
export const runCountsQuery = (filters: Address) =>
  ask(
    ['runs', 'counts', { ...filters, status: undefined }],
    (signal) =>
      listFlowRuns({
        client,
        signal,
        query: { ...runsQueryOf({ ...filters, status: undefined }), limit: 1, counts: true },
      }),
    { isList: true, topics: ['flow_run'] },
  );

/** How many a saved view has: once a minute, as there may be several. */
export const viewCountQuery = (filters: Address) => ({
  ...ask(['runs', 'view', filters], (signal) =>
    listFlowRuns({ client, signal, query: { ...runsQueryOf(filters), limit: 1 } }),
  ),
  staleTime: COUNTED_AGAIN_MS,
  refetchInterval: COUNTED_AGAIN_MS,
});

/** Types that a run can have; they change with the service alone. */
export const runTypesQuery = {
  ...ask(['flow-types'], (signal) => listFlowTypes({ client, signal })),
  staleTime: Number.POSITIVE_INFINITY,
};
