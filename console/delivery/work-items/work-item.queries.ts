import { locateWorkItem } from '@quayside/client';
import { ask } from '../../kernel/data/ask.ts';
import { client } from '../../kernel/data/client.ts';

/** Where a work item of a project is. */
export const workItemQuery = (repositoryIdentifier: string, key: string) => ({
  ...ask(
    ['work-item', repositoryIdentifier, key],
    (signal) => locateWorkItem({ client, signal, path: { key }, query: { repositoryIdentifier } }),
    { topics: ['release_candidate', 'release_deployment', 'git_mirror', 'environment'], isList: true },
  ),
  placeholderData: undefined,
});
