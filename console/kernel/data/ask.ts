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
}

/**
 * A question to the service: `key` names it, `operation` asks it. It is asked again after a change of one of the topics.
 * While another one of the same place is on its way, the answer before stays.
 */
export const ask = <Result extends AnyResult>(
  key: readonly unknown[],
  operation: (signal: AbortSignal) => Promise<Result>,
  meta: AskMeta = {},
) =>
  queryOptions<DataOf<Result>>({
    queryKey: key,
    queryFn: ({ signal }) => dataOf(operation(signal)),
    placeholderData: keepPreviousData,
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
        retry: (failures, error) => failures < 1 && mayPass(error),
        staleTime: 10_000,
        gcTime: 5 * 60_000,
        refetchOnWindowFocus: 'always',
      },
      mutations: { retry: false },
    },
  });
