import {
  compareSides,
  getReleaseCandidate,
  getRunningReleases,
  listEnvironments,
  listReleaseCandidates,
} from '@quayside/client';
import { ask } from '../../kernel/data/ask.ts';
import { client } from '../../kernel/data/client.ts';

export const environmentsOfProjectQuery = (project: string) =>
  ask(
    ['environments', 'of', project],
    (signal) => listEnvironments({ client, signal, query: { repositoryIdentifier: project } }),
    { topics: ['environment'], isList: true },
  );

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

/** A candidate that the address names, and that is not among the newest. */
export const candidateQuery = (id: string) =>
  ask(['candidate', id], (signal) => getReleaseCandidate({ client, signal, path: { id } }), {
    topics: ['release_candidate'],
  });

export const runningQuery = (project: string) =>
  ask(
    ['running', project],
    (signal) => getRunningReleases({ client, signal, query: { repositoryIdentifier: project } }),
    { topics: ['release_deployment'], isList: true },
  );

/** What the candidate would change in the environment, with the commits that only one of them has. */
export const comparisonQuery = (project: string, candidateId: string, environmentId: string) =>
  ask(
    ['compare', project, candidateId, environmentId],
    (signal) =>
      compareSides({
        client,
        signal,
        query: {
          repositoryIdentifier: project,
          left: `candidate:${candidateId}`,
          right: `environment:${environmentId}`,
          includeChangelog: true,
        },
      }),
    { topics: ['release_candidate', 'release_deployment', 'git_mirror'], isList: true },
  );
