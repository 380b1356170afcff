import type { ProjectFacts } from '../../projects/projects/projects.queries.ts';
import { type CandidateName, candidatesOfNames } from '../release-candidates/release-candidates.queries.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { installedStates } from './versions/installed-states.ts';
import type { EnvironmentRecord } from './measures/environment-records.queries.ts';
import type { ReleaseRow } from './releases.queries.ts';

/** Whether a record is of other content than the release's candidate has now. */
export const isSuperseded = (
  { candidateId, contentDigest }: ReleaseRow,
  record: Pick<EnvironmentRecord, 'candidateId' | 'contentDigest'>,
): boolean => candidateId !== null && (record.candidateId !== candidateId || record.contentDigest !== contentDigest);

/** The newer release of its line that an environment runs instead of each release, where there is one. */
export async function newerReleases(
  tx: Tx,
  { id, defaultBranch }: ProjectFacts,
  releases: readonly ReleaseRow[],
  states: Awaited<ReturnType<typeof installedStates>>,
) {
  const domains = new Set(releases.map(({ domain }) => domain));
  const running = states.flatMap((state) =>
    [...state.releases].flatMap(([domain, releaseName]) =>
      releaseName === undefined || !domains.has(domain) ? [] : [{ domain, releaseName }],
    ),
  );
  const candidates = new Map((await candidatesOfNames(tx, id, running)).map((each) => [keyOf(each), each]));
  const releasesIn = new Map(states.map((state) => [state.environmentId, state.releases]));
  return ({ domain, createdAt, branch }: ReleaseRow) =>
    (environmentId: string): string | undefined => {
      const releaseName = releasesIn.get(environmentId)?.get(domain);
      const other = releaseName === undefined ? undefined : candidates.get(keyOf({ domain, releaseName }));
      const isNewer =
        other !== undefined &&
        createdAt !== null &&
        other.createdAt > createdAt &&
        (other.branch ?? defaultBranch) === (branch ?? defaultBranch);
      return isNewer ? releaseName : undefined;
    };
}

export const keyOf = ({ domain, releaseName }: CandidateName): string => `${domain}\n${releaseName}`;
