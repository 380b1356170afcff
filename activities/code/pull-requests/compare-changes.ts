import { packageMatcher } from '../../../domain/code/git/package-rules.ts';
import { currentPackages } from '../../../domain/code/git/packages.queries.ts';
import { ChangedFilesList } from '../../../domain/code/pull-requests/changed-files-rules.ts';
import type { PullRequestHost } from '../../../domain/code/pull-requests/pull-request-host.port.ts';
import { planNextRefresh } from '../../../domain/code/pull-requests/refresh.queries.ts';
import {
  type Comparison,
  saveComparisons,
  uncompared,
} from '../../../domain/code/pull-requests/pull-request-details.queries.ts';
import { RECENT_MS } from '../../../domain/code/pull-requests/refresh-rules.ts';
import type { Deps } from '../../deps.ts';
import type { ReadingParts } from './read-list.ts';

/** Each is two runs of git; the others are looked at the next time. */
const COMPARED_AT_ONCE = 200;
/** A large repository takes a second for each. */
const SAVED_AT_ONCE = 20;
/** Most pull requests of forks whose changes are asked for at a time: each takes some calls to the host. */
const ASKED_AT_ONCE = 30;

interface ProjectToCompare {
  id: string;
  identifier: string;
}

/**
 * Finds out what pull requests change, and how far their branches are from their bases, by the mirror; the host is asked
 * about commits that the mirror lacks, as those of forks.
 * @param findHost gives the host where it is needed; undefined: there is no credential for it.
 */
export async function compareChanges(
  { tx, now, signal }: ReadingParts,
  mirrors: Deps['git']['mirrors'],
  project: ProjectToCompare & { tenantId: string },
  findHost: () => Promise<PullRequestHost | undefined>,
): Promise<number> {
  const endedSince = new Date(now().getTime() - RECENT_MS);
  const due = await tx((work) => uncompared(work, project.id, { endedSince, limit: COMPARED_AT_ONCE }));
  if (due.length === 0) return 0;
  const packages = await tx((work) => currentPackages(work, project.id));
  const numbersOf = packageMatcher(packages);
  const nameOf = new Map(packages.map(({ packageNo, name }) => [packageNo, name]));
  const namesOf = (packageNos: Iterable<number>) =>
    [...new Set(packageNos)].flatMap((packageNo) => nameOf.get(packageNo) ?? []).toSorted();
  const mirror = { tenantId: project.tenantId, projectId: project.id };
  let found: Comparison[] = [];
  let [asked, compared, failed] = [0, 0, 0];
  const save = async () => {
    await tx((work) => saveComparisons(work, project.id, found));
    compared += found.length;
    failed += found.filter(({ detailsError }) => detailsError !== null).length;
    found = [];
  };
  for (const { number, state, headSha, baseSha, baseTip, baseBranch } of due) {
    signal.throwIfAborted();
    if (found.length >= SAVED_AT_ONCE) await save();
    // The base of one that has ended has gone on since.
    const base = state === 'open' ? (baseTip ?? baseSha) : (baseSha ?? baseTip);
    const comparison = { number, comparedHead: headSha, comparedBase: base };
    const list = new ChangedFilesList();
    const changed = new Set<number>();
    const counts =
      base === null
        ? undefined
        : await mirrors.compare(mirror, { base, head: headSha }, (change, path) => {
            list.add(change, path);
            for (const packageNo of numbersOf(path)) changed.add(packageNo);
          });
    if (counts) {
      const names = namesOf(changed);
      found.push({
        ...comparison,
        files: list.files,
        packages: names,
        commitsAhead: counts.ahead,
        commitsBehind: counts.behind,
        detailsError: null,
      });
    } else if (asked++ < ASKED_AT_ONCE) {
      const order = { repository: project.identifier, number, baseBranch, headSha };
      const answer = await (await findHost())?.compare(order);
      found.push({ ...comparison, ...detailsOf(answer, (paths) => namesOf(paths.flatMap(numbersOf))) });
      if (answer?.isOk === false && answer.retryAfterMs !== undefined) break;
    }
  }
  await save();
  const isMoreDue = due.length === COMPARED_AT_ONCE && compared > failed;
  if (isMoreDue) await tx((work) => planNextRefresh(work, project.id, { afterMs: undefined, isMoreDue }));
  return compared;
}

/** What a host says of a pull request. @param packagesOf names the packages of paths. */
function detailsOf(
  answer: Awaited<ReturnType<PullRequestHost['compare']>> | undefined,
  packagesOf: (paths: string[]) => string[],
) {
  if (answer?.isOk) {
    const { files, ahead, behind } = answer.value;
    const paths = [...files.added, ...files.deleted, ...files.modified];
    return { files, packages: packagesOf(paths), commitsAhead: ahead, commitsBehind: behind, detailsError: null };
  }
  return {
    files: null,
    packages: null,
    commitsAhead: null,
    commitsBehind: null,
    detailsError: answer ? answer.reason : 'The commit is not in the mirror of the repository',
    // Tried again with the next refresh where the mirror, or the host, may have it by then.
    ...((!answer || answer.isTransient) && { comparedBase: null }),
  };
}
