import {
  compareReleaseCandidateToEnvironment,
  dataOf,
  getReleaseCandidate,
  getReleaseCandidateChanges,
  getReleaseCandidateTimeline,
  listReleaseCandidates,
  type ListReleaseCandidatesData,
  locateWorkItem,
} from '@quayside/client';
import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query';
import { type AskMeta, ask } from '../../kernel/data/ask.ts';
import { client } from '../../kernel/data/client.ts';

type CandidateFilters = Pick<
  NonNullable<ListReleaseCandidatesData['query']>,
  'repositoryIdentifier' | 'domain' | 'branch' | 'status' | 'q' | 'sort' | 'includeFinalized'
>;

const LISTED: AskMeta = { topics: ['release_candidate'], isList: true };

/** Candidates, page by page. */
export const candidatesQuery = (filters: CandidateFilters) =>
  infiniteQueryOptions({
    queryKey: ['candidates', filters],
    queryFn: ({ signal, pageParam }) =>
      dataOf(listReleaseCandidates({ client, signal, query: { ...filters, ...(pageParam && { cursor: pageParam }) } })),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
    meta: LISTED,
  });

export const candidateQuery = (id: string) =>
  ask(['candidate', id], (signal) => getReleaseCandidate({ client, signal, path: { id } }), {
    topics: ['release_candidate', 'release_deployment'],
  });

export const timelineQuery = (id: string, limit: number) =>
  ask(
    ['candidate', id, 'timeline', limit],
    (signal) => getReleaseCandidateTimeline({ client, signal, path: { id }, query: { limit } }),
    { topics: ['approval', 'environment_lock', 'flow_run', 'release_candidate', 'release_deployment'], isList: true },
  );

/** What it would change in an environment. */
export const comparisonQuery = (id: string, environmentName: string) =>
  ask(
    ['candidate', id, 'against', environmentName],
    (signal) =>
      compareReleaseCandidateToEnvironment({
        client,
        signal,
        path: { id },
        query: { includeChangelog: true },
        body: { environmentName },
      }),
    { topics: ['release_candidate', 'release_deployment', 'git_mirror'], isList: true },
  );

/** What is new in it since the candidate before. */
export const changesQuery = (id: string) =>
  ask(['candidate', id, 'changes'], (signal) => getReleaseCandidateChanges({ client, signal, path: { id } }), {
    topics: ['release_candidate', 'git_mirror'],
  });

/** Where the changes of a work item are. As a page asks this of many, it is not asked again after every change. */
export const workItemPlacesQuery = (repositoryIdentifier: string, key: string) => ({
  ...ask(['work-item', 'places', repositoryIdentifier, key], (signal) =>
    locateWorkItem({ client, signal, path: { key }, query: { repositoryIdentifier } }),
  ),
  staleTime: 60_000,
});
