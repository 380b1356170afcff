import { sql } from 'kysely';
import { isOneOf } from '../../../kernel/data/conditions.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import type { History } from '../../../code/git/graph/commit-graph-cache.ts';
import { commitNumbers } from '../../../code/git/commits.queries.ts';
import { versionTags } from '../../../code/git/package-rules.ts';
import { tagCommits, versionTagCommits } from '../../../code/git/mirror/refs.queries.ts';

export interface PackageVersion {
  name: string;
  version: string;
}

/** The commits of package versions. */
export interface VersionCommits {
  of: (version: PackageVersion) => number | undefined;
  /** The id of the commit of which a version is that has none: a release candidate names it, but it is not known. */
  unknownShaOf: (version: PackageVersion) => string | undefined;
}

/** What of a history tells the commits of versions. */
interface VersionedHistory extends Pick<History, 'projectId'> {
  graph: Pick<History['graph'], 'known'>;
}

const keyOf = ({ name, version }: PackageVersion): string => `${name}\n${version}`;

/** The commits of the first release candidates that held package versions. */
const firstHeld = ({ db, tenantId }: Reads, projectId: string, versions: readonly PackageVersion[]) =>
  db
    .selectFrom(
      sql<PackageVersion>`unnest(
        ${versions.map(({ name }) => name)}::text[], ${versions.map(({ version }) => version)}::text[])`.as<'w'>(
        sql`w (name, version)`,
      ),
    )
    .innerJoin('package_version as v', (join) =>
      join
        .on('v.tenantId', '=', tenantId)
        .on('v.projectId', '=', projectId)
        .onRef('v.name', '=', 'w.name')
        .onRef('v.version', '=', 'w.version'),
    )
    .select(['v.name', 'v.version', 'v.commitSha'])
    .execute();

/**
 * Finds the commits of package versions: those of the tag `name_vX.Y.Z.B`, else of the first candidate that held it. A
 * commit that was imported after the history was read is not known yet.
 */
export async function versionCommits(
  reads: Reads,
  { projectId, graph }: VersionedHistory,
  versions: readonly PackageVersion[],
): Promise<VersionCommits> {
  const wanted = [...new Map(versions.map((each) => [keyOf(each), each])).values()];
  const tags = await tagCommits(
    reads,
    projectId,
    wanted.flatMap(({ name, version }) => versionTags(name, version)),
  );
  const commits = new Map<string, number>();
  for (const each of wanted) {
    const tagged = versionTags(each.name, each.version).find((tag) => tags.has(tag));
    if (tagged !== undefined) commits.set(keyOf(each), tags.get(tagged) ?? 0);
  }
  const untagged = wanted.filter((each) => !commits.has(keyOf(each)));
  const held = untagged.length === 0 ? [] : await firstHeld(reads, projectId, untagged);
  const numbers = await commitNumbers(
    reads,
    projectId,
    held.map(({ commitSha }) => commitSha),
  );
  const heldShas = new Map(held.map((each) => [keyOf(each), each.commitSha]));
  for (const each of held) {
    const commit = numbers.get(each.commitSha);
    if (commit !== undefined) commits.set(keyOf(each), commit);
  }
  return {
    of: (version) => graph.known(commits.get(keyOf(version))),
    unknownShaOf: (version) => heldShas.get(keyOf(version)),
  };
}

/** From how many versions on `commitsOfMany` costs less than `versionCommits`. */
export const MANY_VERSIONS = 1_000;

/**
 * Finds the commits of many package versions as `versionCommits` does. It reads all tags of versions, and what held any
 * of the packages in any of the versions: packages mostly share them.
 */
export async function commitsOfMany(
  reads: Reads,
  { projectId, graph }: VersionedHistory,
  versions: readonly PackageVersion[],
): Promise<VersionCommits['of']> {
  const { db, tenantId } = reads;
  const byName = new Map<string, Map<string, number>>();
  for (const { name } of versions) if (!byName.has(name)) byName.set(name, new Map());
  const held = await db
    .selectFrom('package_version as v')
    .where('v.tenantId', '=', tenantId)
    .where('v.projectId', '=', projectId)
    .where((eb) => isOneOf(eb, 'v.name', [...byName.keys()]))
    .where((eb) => isOneOf(eb, 'v.version', [...new Set(versions.map(({ version }) => version))]))
    .groupBy(['v.version', 'v.commitSha'])
    .select(['v.version', 'v.commitSha', sql<string[]>`json_agg(v.name)`.as('names')])
    .execute();
  const numbers = await commitNumbers(
    reads,
    projectId,
    held.map(({ commitSha }) => commitSha),
  );
  for (const { names, version, commitSha } of held) {
    const commit = graph.known(numbers.get(commitSha));
    if (commit !== undefined) for (const name of names) byName.get(name)?.set(version, commit);
  }
  const tags = await versionTagCommits(reads, projectId);
  for (const { name, version } of tags.size > 0 ? versions : []) {
    const tag = versionTags(name, version).find((each) => tags.has(each));
    const commit = tag === undefined ? undefined : graph.known(tags.get(tag));
    if (commit !== undefined) byName.get(name)?.set(version, commit);
    else if (tag !== undefined) byName.get(name)?.delete(version);
  }
  return ({ name, version }) => byName.get(name)?.get(version);
}
