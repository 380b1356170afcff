import {
  compareSides,
  dataOf,
  type Environment,
  getEnvironment,
  getEnvironmentLockQueue,
  getEnvironmentTimeline,
  getOrgLimitSnapshot,
  getProject,
  getRunningReleases,
  listEnvironments,
} from '@quayside/client';
import { infiniteQueryOptions } from '@tanstack/react-query';
import { ask } from '../../kernel/data/ask.ts';
import { client } from '../../kernel/data/client.ts';

export const SHOWN_MAX = 200;
const PAGE = 50;

export const environmentsQuery = (filters: { project?: string; category?: string; isLocked: boolean }) =>
  ask(
    ['environments', filters],
    (signal) =>
      listEnvironments({
        client,
        signal,
        query: {
          limit: SHOWN_MAX,
          ...(filters.project && { repositoryIdentifier: filters.project }),
          ...(filters.category && { category: filters.category as Environment['category'] }),
          ...(filters.isLocked && { isLocked: true }),
        },
      }),
    { topics: ['environment', 'environment_lock'], isList: true },
  );

export const environmentQuery = (id: string) =>
  ask(['environment', id], (signal) => getEnvironment({ client, signal, path: { id } }), {
    topics: ['environment', 'environment_lock', 'release_deployment'],
  });

/** A project, with what it sets for all of its environments. */
export const projectQuery = (identifier: string) =>
  ask(['project', identifier], (signal) => getProject({ client, signal, path: { identifier } }), {
    topics: ['project'],
  });

export const lockQueueQuery = (id: string) =>
  ask(['environment', id, 'locks'], (signal) => getEnvironmentLockQueue({ client, signal, path: { id } }), {
    topics: ['environment_lock'],
  });

/** What runs in all environments of a project. */
export const runningQuery = (repositoryIdentifier: string) =>
  ask(
    ['releases', 'where', repositoryIdentifier],
    (signal) => getRunningReleases({ client, signal, query: { repositoryIdentifier } }),
    { topics: ['release_candidate', 'release_deployment', 'environment'] },
  );

/** What happened in an environment, the latest first, page after page. */
export const environmentTimelineQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['environment', id, 'timeline'],
    queryFn: ({ signal, pageParam }) =>
      dataOf(
        getEnvironmentTimeline({
          client,
          signal,
          path: { id },
          query: { limit: PAGE, ...(pageParam !== '' && { cursor: pageParam }) },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    meta: {
      topics: ['release_deployment', 'release_candidate', 'environment_lock', 'flow_run', 'environment'],
      isList: true,
    },
  });

/** How two environments differ: what the other one would bring here. */
export const differenceQuery = (repositoryIdentifier: string, from: string, to: string) =>
  ask(['releases', 'compare', from, to], (signal) =>
    compareSides({
      client,
      signal,
      query: { repositoryIdentifier, left: `environment:${from}`, right: `environment:${to}` },
    }),
  );

/** The limits of the environment's org, as they were last asked for; none where its org is not registered. */
export const orgLimitsQuery = (repositoryIdentifier: string, environmentName: string) =>
  ask(
    ['org-limits', repositoryIdentifier, environmentName],
    (signal) => getOrgLimitSnapshot({ client, signal, query: { repositoryIdentifier, environmentName } }),
    { topics: ['org_limit'] },
  );
