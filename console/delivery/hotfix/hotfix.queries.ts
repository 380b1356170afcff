import { listReleaseCandidates } from '@quayside/client';
import { ask } from '../../kernel/data/ask.ts';
import { client } from '../../kernel/data/client.ts';

const CANDIDATES_OFFERED = 50;

/** The newest candidates of a project: those that one chooses from. */
export const candidatesOfProjectQuery = (project: string) =>
  ask(
    ['candidates', 'newest', project],
    (signal) =>
      listReleaseCandidates({
        client,
        signal,
        query: { repositoryIdentifier: project, limit: CANDIDATES_OFFERED },
      }),
    { topics: ['release_candidate'], isList: true },
  );
