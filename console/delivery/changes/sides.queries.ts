import { compareSides } from '@quayside/client';
import { ask } from '../../kernel/data/ask.ts';
import { client } from '../../kernel/data/client.ts';

/** What a candidate would change in an environment, with the commits that only one of them has. */
export const sidesQuery = (repositoryIdentifier: string, candidateId: string, environmentId: string) =>
  ask(
    ['compare', repositoryIdentifier, candidateId, environmentId],
    (signal) =>
      compareSides({
        client,
        signal,
        query: {
          repositoryIdentifier,
          left: `candidate:${candidateId}`,
          right: `environment:${environmentId}`,
          includeChangelog: true,
        },
      }),
    { topics: ['release_candidate', 'release_deployment', 'git_mirror'], isList: true },
  );
