import { type FlowDryRun, type FlowRunStarted, listEnvironments, listFlowRuns, startFlowRun } from '@quayside/client';
import { ask } from '../../kernel/data/ask.ts';
import { client } from '../../kernel/data/client.ts';
import type { ReleaseInProject, StartPayload } from './gate-rules.ts';

/** All environments of a project, with their policies. */
export const environmentsQuery = (repositoryIdentifier: string) =>
  ask(
    ['environments', 'of', repositoryIdentifier],
    (signal) => listEnvironments({ client, signal, query: { repositoryIdentifier } }),
    { topics: ['environment'], isList: true },
  );

/** What would become of a run, and of its gates as they are now. */
export const dryRunQuery = (payload: StartPayload) => ({
  ...ask(
    ['dry-run', payload],
    (signal) => startFlowRun({ client, signal, query: { dryRun: true }, body: { payload } }),
    {
      topics: ['approval', 'environment', 'environment_lock', 'flow_run', 'release_candidate', 'release_deployment'],
      isList: true,
    },
  ),
  // The answer for another choice is no answer for this one.
  placeholderData: undefined,
  select: (answer: FlowRunStarted | FlowDryRun): FlowDryRun => {
    if ('wouldStart' in answer) return answer;
    throw new Error(`Run ${answer.id} was started`);
  },
});

/** More of one release are hardly open at once; whoever shows them says where there are more. */
const OPEN_RUNS_MAX = 100;

/** Runs that take a release somewhere and have not ended. */
export const openRunsQuery = ({ repositoryIdentifier, domain, releaseName }: ReleaseInProject) =>
  ask(
    ['runs', 'open', repositoryIdentifier, domain, releaseName],
    (signal) =>
      listFlowRuns({
        client,
        signal,
        query: { repositoryIdentifier, domain, release: releaseName, status: 'Waiting,Running', limit: OPEN_RUNS_MAX },
      }),
    { topics: ['flow_run'], isList: true },
  );
