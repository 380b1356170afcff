import type {
  CommitLine,
  CommitPair,
  MirrorOf,
  Ref,
  Remote,
} from '../../../domain/code/git/mirror/git-mirrors.port.ts';
import { replacePackages, reservePackageNumbers } from '../../../domain/code/git/mirror/import.mutations.ts';
import { commitLines } from '../../../domain/code/git/commits.queries.ts';
import { type FetchedProject, notePackagesFrom } from '../../../domain/code/git/mirror/mirror.queries.ts';
import { currentPackages, type KnownPackage } from '../../../domain/code/git/packages.queries.ts';
import {
  MANIFEST,
  PackageChanges,
  type PackageDefinition,
  packagesNotIn,
  packagesOfManifest,
  packagesOfSetting,
  type PackagesFrom,
} from '../../../domain/code/git/package-rules.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import type { Deps } from '../../deps.ts';

/** Commits that are read at a time. */
const CHUNK = 2_000;
const MANIFEST_BYTES_MAX = 1024 * 1024;

interface ListedPackages {
  from: PackagesFrom;
  packages: PackageDefinition[];
}

/**
 * Brings the packages of a project up to date. One that is new, or moved, is looked for in every commit that was
 * imported before.
 */
export async function importPackages(
  deps: Deps,
  mirror: MirrorOf & TenantKey,
  project: FetchedProject,
  refs: readonly Ref[],
  remote: Remote,
): Promise<void> {
  const { from, packages } = await listedPackages(deps, mirror, project, refs, remote);
  const tx = deps.actingAs(systemActor(mirror, 'git-mirror'));
  const { projectId } = mirror;
  const known = await tx((work) => currentPackages(work, projectId));
  if (from !== project.packagesFrom) await tx((work) => notePackagesFrom(work, projectId, from));
  if (listing(known) === listing(packages)) return;
  const added = await tx((work) => reservePackageNumbers(work, projectId, packagesNotIn(known, packages)));
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

/** Packages as text that is the same when they are, in whatever order. */
const listing = (packages: readonly PackageDefinition[]): string =>
  packages
    .map(({ name, path, versionNumber, dependencies }) => JSON.stringify([name, path, versionNumber, dependencies]))
    .toSorted()
    .join();

/** The packages that the manifest on the default branch lists, or else the project's setting. */
async function listedPackages(
  { git: { mirrors } }: Deps,
  mirror: MirrorOf & TenantKey,
  { defaultBranch, configuration: { packagePaths } }: FetchedProject,
  refs: readonly Ref[],
  remote: Remote,
): Promise<ListedPackages> {
  const tip = refs.find(({ kind, name }) => kind === 'branch' && name === defaultBranch);
  const manifest = tip && (await mirrors.file(mirror, remote, tip.sha, MANIFEST, MANIFEST_BYTES_MAX));
  const packages = manifest === undefined ? undefined : packagesOfManifest(manifest);
  if (packages && packages.length > 0) return { from: 'manifest', packages };
  if (packagePaths) return { from: 'setting', packages: packagesOfSetting(packagePaths) };
  return { from: 'none', packages: [] };
}

/** In which of the packages each commit, by its place, differs from which of its parents. */
export async function changesOf(
  deps: Deps,
  mirror: MirrorOf & TenantKey,
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
