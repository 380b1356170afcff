import type { CommitLine, CommitPair, MirrorOf, Ref, Remote } from '../../domain/git/git-mirrors.port.ts';
import {
  addCommits,
  bumpRevision,
  commitLines,
  commitMessages,
  currentPackages,
  currentRefs,
  type KnownPackage,
  type NewCommitFacts,
  noteFilters,
  notePackagesFrom,
  replacePackages,
  replaceRefs,
  reservePackageNumbers,
  setWorkItems,
  unknownPackages,
} from '../../domain/git/import.queries.ts';
import type { MirrorState, PackagesFrom } from '../../domain/git/mirror.queries.ts';
import {
  MANIFEST,
  PackageChanges,
  type PackageDefinition,
  packagesOfManifest,
  packagesOfSetting,
} from '../../domain/git/package-rules.ts';
import { pullRequestsIn, workItemFilters, workItemsIn, type KeyFinder } from '../../domain/git/work-item-rules.ts';
import { keyFinders } from '../../domain/git/work-item-patterns.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import type { Deps } from '../deps.ts';

/** Commits of one transaction: bounds its time, and what is repeated after a crash. */
const CHUNK = 2_000;
const MANIFEST_BYTES_MAX = 1024 * 1024;

/**
 * Writes what is new in a mirror to rows. Every step adds or replaces, so that it can break off anywhere and begin
 * again; the refs come last, since the next import begins at them.
 */
export async function importFacts(deps: Deps, mirror: MirrorOf, state: MirrorState, remote: Remote): Promise<void> {
  const {
    git: { mirrors },
  } = deps;
  const tx = deps.actingAs(systemActor(mirror.tenantId, 'git-mirror'));
  const refs = await mirrors.refs(mirror);
  const filters = workItemFilters(state.configuration);
  if (JSON.stringify(filters) !== JSON.stringify(state.workItemFilters))
    await findWorkItemsAgain(deps, mirror, filters);
  await updatePackages(deps, mirror, state, await wantedPackages(deps, mirror, state, refs, remote));
  const known = await tx((work) => currentRefs(work, mirror.projectId));
  const packages = await tx((work) => currentPackages(work, mirror.projectId));
  const shasOf = (some: readonly Ref[]) => [...new Set(some.map(({ sha }) => sha))];
  const knownShas = new Set(shasOf(known));
  const tips = shasOf(refs).filter((sha) => !knownShas.has(sha));
  const lines = await mirrors.newCommits(mirror, tips, [...knownShas]);
  const finders = keyFinders(filters);
  for (let at = 0; at < lines.length; at += CHUNK)
    await importChunk(deps, mirror, lines.slice(at, at + CHUNK), packages, finders);
  await tx(async (work) => {
    if (await replaceRefs(work, mirror.projectId, refs)) await bumpRevision(work, mirror.projectId);
  });
}

async function importChunk(
  deps: Deps,
  mirror: MirrorOf,
  lines: readonly CommitLine[],
  packages: readonly KnownPackage[],
  finders: readonly KeyFinder[],
) {
  const texts = await deps.git.mirrors.commits(
    mirror,
    lines.map(({ sha }) => sha),
  );
  const parentsOf = new Map(lines.map(({ sha, parents }) => [sha, parents]));
  const commits = texts.map(
    ({ sha, authorName, authorEmail, authoredAt, committedAt, subject, body }): NewCommitFacts => ({
      sha,
      parents: parentsOf.get(sha) ?? [],
      authorName,
      authorEmail,
      authoredAt: isoOf(authoredAt),
      committedAt: isoOf(committedAt),
      subject,
      body,
      workItems: workItemsIn(`${subject}\n\n${body}`, finders),
      pullRequests: pullRequestsIn(subject, body),
    }),
  );
  const changes = await changesOf(deps, mirror, lines, packages);
  await deps.actingAs(systemActor(mirror.tenantId, 'git-mirror'))((work) =>
    addCommits(work, mirror.projectId, commits, changes.byPackage),
  );
}

/** In which of the packages each commit, by its place, differs from which of its parents. */
async function changesOf(
  deps: Deps,
  mirror: MirrorOf,
  lines: readonly (CommitLine | undefined)[],
  packages: readonly KnownPackage[],
): Promise<PackageChanges> {
  const changes = new PackageChanges(packages);
  if (packages.length === 0) return changes;
  const pairs: CommitPair[] = [];
  const places: { commit: number; parent: number }[] = [];
  for (const [commit, line] of lines.entries()) {
    if (!line) continue;
    const { sha, parents } = line;
    for (const [place, parent] of (parents.length === 0 ? [null] : parents).entries()) {
      pairs.push({ sha, parent });
      places.push({ commit, parent: place });
    }
  }
  await deps.git.mirrors.changedPaths(mirror, pairs, (pair, path) => {
    const { commit = 0, parent = 0 } = places[pair] ?? {};
    changes.add(commit, parent, path);
  });
  return changes;
}

/** The packages that the project's manifest lists on its default branch, or else its setting. */
async function wantedPackages(
  { git: { mirrors } }: Deps,
  mirror: MirrorOf,
  state: MirrorState,
  refs: readonly Ref[],
  remote: Remote,
) {
  const tip = refs.find(({ kind, name }) => kind === 'branch' && name === state.defaultBranch);
  const manifest = tip && (await mirrors.file(mirror, remote, tip.sha, MANIFEST, MANIFEST_BYTES_MAX));
  const ofManifest = manifest === undefined ? undefined : packagesOfManifest(manifest);
  if (ofManifest && ofManifest.length > 0) return { from: 'manifest' as PackagesFrom, packages: ofManifest };
  const { packagePaths } = state.configuration;
  if (packagePaths) return { from: 'setting' as PackagesFrom, packages: packagesOfSetting(packagePaths) };
  return { from: 'none' as PackagesFrom, packages: [] };
}

/** A package that is new, or moved, is looked for in every commit that was imported before. */
async function updatePackages(
  deps: Deps,
  mirror: MirrorOf,
  state: MirrorState,
  { from, packages }: { from: PackagesFrom; packages: PackageDefinition[] },
): Promise<void> {
  const tx = deps.actingAs(systemActor(mirror.tenantId, 'git-mirror'));
  const { projectId } = mirror;
  const known = await tx((work) => currentPackages(work, projectId));
  if (from !== state.packagesFrom) await tx((work) => notePackagesFrom(work, projectId, from));
  const isSame =
    JSON.stringify(known.map(bare).toSorted(byName)) === JSON.stringify(packages.map(bare).toSorted(byName));
  if (isSame) return;
  const added = await tx((work) => reservePackageNumbers(work, projectId, unknownPackages(known, packages)));
  const changes = new Map(added.map(({ packageNo }) => [packageNo, new Map<number, bigint>()]));
  for (let seq = 0; added.length > 0; ) {
    const start = seq;
    const lines = await tx((work) => commitLines(work, projectId, start, CHUNK));
    if (lines.length === 0) break;
    const present = await deps.git.mirrors.present(
      mirror,
      lines.flatMap(({ sha, parents }) => [sha, ...parents]),
    );
    const isThere = ({ sha, parents }: CommitLine) => [sha, ...parents].every((each) => present.has(each));
    const { byPackage } = await changesOf(
      deps,
      mirror,
      lines.map((line) => (isThere(line) ? line : undefined)),
      added,
    );
    for (const [packageNo, ofPackage] of byPackage)
      for (const [place, bits] of ofPackage) changes.get(packageNo)?.set(start + place, bits);
    seq += lines.length;
  }
  await tx((work) => replacePackages(work, projectId, packages, added, changes));
}

const bare = ({ name, path, versionNumber }: PackageDefinition) => ({ name, path, versionNumber });
const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);

async function findWorkItemsAgain(
  deps: Deps,
  { tenantId, projectId }: MirrorOf,
  filters: readonly string[],
): Promise<void> {
  const tx = deps.actingAs(systemActor(tenantId, 'git-mirror'));
  const finders = keyFinders(filters);
  for (let seq = 0; ; ) {
    const start = seq;
    const messages = await tx((work) => commitMessages(work, projectId, start, CHUNK));
    if (messages.length === 0) break;
    const items = messages.map(({ seq: commit, subject, body }) => ({
      seq: commit,
      workItems: workItemsIn(`${subject}\n\n${body}`, finders),
    }));
    await tx((work) => setWorkItems(work, projectId, items));
    seq += messages.length;
  }
  await tx((work) => noteFilters(work, projectId, filters));
}

/** The last second of the year 9999: what git takes for later dates, ISO 8601 cannot say. */
const LAST_SECOND = 253_402_300_799;
const isoOf = (seconds: number): string =>
  new Date(Math.min(Math.max(0, seconds || 0), LAST_SECOND) * 1_000).toISOString();
