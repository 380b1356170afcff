import { listEnvironments } from '@quayside/client';
import { ask } from './ask.ts';
import { client } from './client.ts';

const OF_ALL_PROJECTS_MAX = 50;

/** Environments whose names a filter offers: all of the project, or the first of all projects. */
export const environmentNamesQuery = (project: string | undefined) =>
  ask(
    ['environments', 'names', project],
    (signal) =>
      listEnvironments({
        client,
        signal,
        query: project ? { repositoryIdentifier: project } : { limit: OF_ALL_PROJECTS_MAX },
      }),
    { topics: ['environment'], isList: true },
  );
