import { type AnyResult, dataOf, type DataOf, ProblemError } from '@quayside/client';
import { keepPreviousData, QueryClient, type QueryClientConfig, queryOptions } from '@tanstack/react-query';
import type { Topic } from './topics.ts';

declare module '@tanstack/react-query' {
  interface Register {
    defaultError: Error;
    queryMeta: AskMeta;
  }
}

/** What a question needs to be asked again at the right moment. */
export interface AskMeta extends Record<string, unknown> {
  /** Topics of `GET /api/changes` after which its answer may be another one. */
  topics?: readonly Topic[];
  /** Lists are asked again less often. */
  isList?: boolean;
  /**
   * Until another question of the same place is answered, the answer before stays, as a placeholder: so that rows do not flicker
   * while one filters. By default what lists do; of a single thing it would show another one under its address.
   */
  keepsBefore?: boolean;
}

/**
 * A question to the service: `key` names it, `operation` asks it. It is asked again after a change of one of the topics.
 */
export const ask = <Result extends AnyResult>(
  key: readonly unknown[],
  operation: (signal: AbortSignal) => Promise<Result>,
  meta: AskMeta = {},
) =>
  queryOptions<DataOf<Result>>({
    queryKey: key,
    queryFn: ({ signal }) => dataOf(operation(signal)),
    ...((meta.keepsBefore ?? meta.isList) && { placeholderData: keepPreviousData }),
    meta,
  });

/** A refusal for good is no better at the second time; the client itself repeats what may pass. */
const mayPass = (error: Error): boolean =>
  !(error instanceof ProblemError) || error.problem.status === 0 || error.problem.status >= 500;

/** The answers that the console holds, and nothing else: state is here or in the address. */
export const createQueries = (caches: Pick<QueryClientConfig, 'queryCache' | 'mutationCache'>): QueryClient =>
  new QueryClient({
    ...caches,
    defaultOptions: {
      queries: {
        // Browsers know little of whether the service can be reached; a request that fails says so at once.
        networkMode: 'always',
        retry: (failures, error) => failures < 1 && mayPass(error),
        staleTime: 10_000,
        gcTime: 5 * 60_000,
        refetchOnWindowFocus: 'always',
      },
      mutations: { networkMode: 'always', retry: false },
    },
  });
