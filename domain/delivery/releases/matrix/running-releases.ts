import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import { isoOf } from '../../../kernel/text/date-time-rules.ts';
import { listEnvironments } from '../../../projects/environments/environments.queries.ts';
import type { ProjectFacts } from '../../../projects/projects/projects.queries.ts';
import { candidatesByIds } from '../../release-candidates/release-candidates.queries.ts';
import { runningPlaces } from '../active-releases.ts';
import { reportedIn } from './matrix-cells.ts';

/** A release that runs in an environment. */
export interface RunningRelease {
  /** Name of the environment. */
  environment: string;
  domain: string;
  releaseName: string;
  /** ISO 8601: since when it is deployed there; of one that is not, or not with its present content, when it came. */
  since: string;
  /** Who reported that; null: it is not known. */
  by: string | null;
}

/**
 * What runs where: the releases that run in active environments of a project, in the order in which releases travel;
 * those of which parts run alone, and those whose candidates were removed, are among them.
 */
export async function runningReleases(reads: Reads, project: ProjectFacts): Promise<RunningRelease[]> {
  const [environments, places] = await Promise.all([
    listEnvironments(reads, project.id),
    runningPlaces(reads, project.id),
  ]);
  const installations = places.flatMap((place) => place.installations);
  const candidates = await candidatesByIds(reads, [
    ...new Set(installations.flatMap(({ candidateId }) => candidateId ?? [])),
  ]);
  const byId = new Map(candidates.map((each) => [each.id, { ...each, artifacts: each.value.artifacts ?? {} }]));
  const reported = await reportedIn(
    reads,
    [...byId.values()],
    [...new Set(places.map(({ environmentId }) => environmentId))],
  );
  return environments.flatMap(({ id, name }) =>
    places
      .filter(({ environmentId }) => environmentId === id)
      .flatMap(({ domain, releaseNames, installations: own }) =>
        [...releaseNames].flatMap((releaseName) => {
          const ofRelease = own.filter((each) => each.releaseName === releaseName);
          const first = ofRelease.at(-1);
          const candidate = byId.get(ofRelease[0]?.candidateId ?? '');
          if (!first) return [];
          const told = candidate && reported(candidate, id);
          const since = told?.fact.deployedAt ?? isoOf(first.deployedAt);
          const by = told?.fact.isDeployed ? told.story.by : first.by;
          return { environment: name, domain, releaseName, since, by };
        }),
      ),
  );
}
