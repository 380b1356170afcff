import { z } from 'zod';
import { candidateById } from '../../../domain/delivery/release-candidates/release-candidates.queries.ts';
import { requestFetchSoon } from '../../../domain/code/git/mirror/commit-fetches.mutations.ts';
import {
  type ChangelogSource,
  compareToEnvironment,
  compareToPackages,
} from '../../../domain/delivery/releases/changelogs/candidate-comparison.ts';
import { compareAnySides } from '../../../domain/delivery/releases/changelogs/side-comparison.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { candidateLog } from '../../../domain/delivery/releases/changelogs/candidate-log.ts';
import { signalMirrorLater } from '../../../workflows/code/git/git-mirror.contract.ts';
import { CandidateChanges, ChangelogFacts } from '../changelogs.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId } from '../../http/parameters.ts';
import { JsonText, withMember } from '../../http/replies.ts';
import type { Scope } from '../../http/scope.ts';
import { viewed } from './candidate-view.ts';
import {
  CompareIn,
  CompareToPackagesIn,
  EnvironmentComparison,
  IncludeChangelog,
  PackagesComparison,
  SideComparison,
  SidesQuery,
} from './release-candidates.schemas.ts';

const GROUP = 'Release candidates';
const query = z.strictObject({ includeChangelog: IncludeChangelog });

/** Where the commits and work items of a comparison come from. */
const sourceOf = ({ git: { commitGraphs }, releases: { analyses } }: Scope['adapters']): ChangelogSource => ({
  commitGraphs,
  kept: analyses,
  write: (changelog) => JSON.stringify(ChangelogFacts.parse(changelog)),
});

/** A comparison with its changelog, which is JSON already. */
const withChangelog = ({ changelog: _, ...compared }: { changelog: unknown }, changelog: string): JsonText =>
  new JsonText(withMember(compared, 'changelog', changelog), { isRepeated: true });

/** Who polls for a commit that never comes is to see that, and not fetch after fetch. */
const RETRY_MS = 60_000;
const isLongAgo = (moment: string | null, now: Date): boolean =>
  moment === null || now.getTime() - Date.parse(moment) > RETRY_MS;

export const comparisonRoutes = [
  defineRoute({
    operationId: 'compareSides',
    method: 'get',
    path: '/api/releases/compare',
    group: 'Releases',
    summary: 'Compare any two of the release candidates and environments of a repository',
    description:
      'Says what the left side would install or update on the right one, by the rules of `POST /api/release-candidates/{id}/compare`: `left` goes where `right` is. An environment holds the packages that are installed in it.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: SidesQuery,
    status: 200,
    response: SideComparison,
    errors: ['not_found'],
    async handle({ query: { repositoryIdentifier, includeChangelog, ...sides } }, { tx, adapters }) {
      const source = includeChangelog ? sourceOf(adapters) : undefined;
      const { changelog, ...compared } = await tx(async (work) =>
        compareAnySides(
          work,
          source,
          adapters.releases.deploymentLogs,
          await projectInRequest(work, repositoryIdentifier),
          sides,
        ),
      );
      const answer = { ...compared, changelog: null };
      return changelog === null ? answer : withChangelog(SideComparison.parse(answer), changelog);
    },
  }),
  defineRoute({
    operationId: 'compareReleaseCandidateToEnvironment',
    method: 'post',
    path: '/api/release-candidates/{id}/compare',
    group: GROUP,
    summary: 'Compare a release candidate with an environment',
    description:
      'The installed packages are derived from the deployments to the environment that were reported: of each package the newest report that installed it and was not rolled back counts. The same versions from another commit are a change (`isOtherContent`). `deployment` says whether the candidate itself is deployed there, which a later release does not undo.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    query,
    body: CompareIn,
    status: 200,
    response: EnvironmentComparison,
    audit: { none: 'reads' },
    async handle({ params: { id }, query: { includeChangelog }, body }, { tx, adapters }) {
      const source = includeChangelog ? sourceOf(adapters) : undefined;
      const { changelog, ...compared } = await tx(async (work) => {
        const found = await compareToEnvironment(work, source, adapters.releases.deploymentLogs, id, body);
        return { ...found, releaseCandidate: await viewed(work, found, work.now) };
      });
      const answer = { ...compared, changelog: null };
      return changelog === null ? answer : withChangelog(EnvironmentComparison.parse(answer), changelog);
    },
  }),
  defineRoute({
    operationId: 'compareReleaseCandidateToPackages',
    method: 'post',
    path: '/api/release-candidates/{id}/compare-to-packages',
    group: GROUP,
    summary: 'Compare a release candidate with given package versions',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    query,
    body: CompareToPackagesIn,
    status: 200,
    response: PackagesComparison,
    audit: { none: 'reads' },
    async handle({ params: { id }, query: { includeChangelog }, body: { packages, baseLabel } }, { tx, adapters }) {
      const source = includeChangelog ? sourceOf(adapters) : undefined;
      const { changelog, ...compared } = await tx(async (work) => {
        const found = await compareToPackages(work, source, id, packages);
        return { ...found, releaseCandidate: await viewed(work, found, work.now) };
      });
      const answer = { ...compared, changelog: null, baseLabel };
      return changelog === null ? answer : withChangelog(PackagesComparison.parse(answer), changelog);
    },
  }),
  defineRoute({
    operationId: 'getReleaseCandidateChanges',
    method: 'get',
    path: '/api/release-candidates/{id}/changes',
    group: GROUP,
    summary: 'Get the commits, packages and work items that are new in a release candidate',
    description: [
      "Lists `git log since..commit -- <paths>` with the paths of the packages of the candidate's domain (the packages that the project configures for the domain, otherwise those in the candidate). Merges are included.",
      '`since` is a commit, a tag, or an ISO 8601 timestamp or day (UTC where it names no offset) to compare with commit dates; default: the commit of the previous candidate on the same branch.',
      'If a commit is unknown, `missingChangelog` gives the reason and a fetch of the repository is requested, if the last one was more than a minute ago.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    query: z.strictObject({ since: z.string().min(1).max(255).optional() }),
    status: 200,
    response: CandidateChanges,
    async handle(
      { params: { id }, query: { since } },
      {
        tx,
        adapters: {
          git: { commitGraphs },
          launch,
        },
      },
    ) {
      const { log, toFetch } = await tx(async (work) => {
        const { project, candidate } = await candidateById(work, id);
        const history = await commitGraphs(work, project.id);
        const found = await candidateLog(work, history, project, candidate, since);
        const { missingChangelog } = found;
        const isWorthTrying = missingChangelog !== null && isLongAgo(missingChangelog.lastTriedAt, work.now);
        return { log: found, toFetch: isWorthTrying ? await requestFetchSoon(work, project) : undefined };
      });
      if (toFetch) signalMirrorLater(launch, toFetch);
      return log;
    },
  }),
];
