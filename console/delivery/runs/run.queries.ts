import {
  type FlowRunDetail,
  getFlowRun,
  getFlowRunOutput,
  listFlowRunCoverage,
  listFlowRuns,
  listFlowRunTests,
  ProblemError,
} from '@quayside/client';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { t } from '../../messages/messages.ts';
import { ask } from '../../kernel/data/ask.ts';
import { client } from '../../kernel/data/client.ts';
import { extended, type Output, OUTPUT_SHOWN_MAX } from './output-rules.ts';

export const runQuery = (id: string) =>
  ask(['run', id], (signal) => getFlowRun({ client, signal, path: { id } }), {
    topics: ['flow_run', 'approval'],
    // Its output is asked for more often; both together stay below a request a second.
    isList: true,
  });

export const CHILDREN_SHOWN = 100;

export const childRunsQuery = (id: string) =>
  ask(
    ['runs', 'children', id],
    (signal) => listFlowRuns({ client, signal, query: { parent: id, limit: CHILDREN_SHOWN, includeInternal: true } }),
    { topics: ['flow_run'], isList: true },
  );

/** So many say what is usual; more are of another time. */
const PAST_RUNS = 20;

/** The last runs of its type that succeeded in its environment. */
export const pastRunsQuery = ({ taskType, environmentName, projectIdentifier }: FlowRunDetail) => ({
  ...ask(['runs', 'past', taskType, environmentName, projectIdentifier], (signal) =>
    listFlowRuns({
      client,
      signal,
      query: {
        taskType,
        status: 'Completed',
        limit: PAST_RUNS,
        ...(environmentName !== null && { environment: environmentName }),
        ...(projectIdentifier !== null && { repositoryIdentifier: projectIdentifier }),
      },
    }),
  ),
  staleTime: 60_000,
});

export const TESTS_SHOWN = 50;

export const failedTestsQuery = (id: string) =>
  ask(
    ['run', id, 'tests'],
    (signal) => listFlowRunTests({ client, signal, path: { id }, query: { outcome: 'failed', limit: TESTS_SHOWN } }),
    { topics: ['flow_run'] },
  );

export const coverageQuery = (id: string) =>
  ask(
    ['run', id, 'coverage'],
    (signal) => listFlowRunCoverage({ client, signal, path: { id }, query: { limit: TESTS_SHOWN } }),
    { topics: ['flow_run'] },
  );

/**
 * What a run has printed: while it goes on, what is new is asked for behind what is known; when it has ended, its end is asked
 * for anew, as a report may have taken its place. Null: it has printed nothing.
 */
export const outputQuery = (id: string, isOpen: boolean) => {
  const queryKey = ['run', id, 'output', isOpen] as const;
  return queryOptions<Output | null>({
    queryKey,
    async queryFn({ signal, client: queries }) {
      const before = isOpen ? (queries.getQueryData<Output | null>(queryKey) ?? undefined) : undefined;
      const range = isOpen ? before && `bytes=${before.end}-` : `bytes=-${OUTPUT_SHOWN_MAX}`;
      const { data, error, response } = await getFlowRunOutput({
        client,
        signal,
        path: { id },
        parseAs: 'arrayBuffer',
        ...(range !== undefined && { headers: { range } }),
      });
      if (error?.status === 416) return before ?? null;
      if (error?.status === 404) return null;
      if (error) throw new ProblemError(error);
      const part = {
        bytes: new Uint8Array(data as unknown as ArrayBuffer),
        from: Number(response?.headers.get('X-Output-Offset') ?? 0),
        isComplete: response?.headers.get('X-Output-Complete') === 'true',
      };
      return extended(before, part, (bytes) => t.run.outputGap(sizeOf(bytes)));
    },
    placeholderData: keepPreviousData,
    structuralSharing: false,
    ...(isOpen ? { meta: { topics: ['flow_output'] as const } } : { staleTime: 60_000 }),
  });
};

/** Bytes as people say them. */
export const sizeOf = (bytes: number): string =>
  bytes < 1_024 ? t.run.bytes(bytes) : t.run.kilobytes(Math.round(bytes / 1_024));
