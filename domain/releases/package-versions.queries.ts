import { commitNumbers } from '../git/commits.queries.ts';
import { versionTags } from '../git/package-rules.ts';
import { tagCommits } from '../git/refs.queries.ts';
import type { Tx } from '../unit-of-work.ts';

export interface PackageVersion {
  name: string;
  version: string;
}

/** The commits of package versions; those that are not known have a reason instead. */
export interface VersionCommits {
  of: (version: PackageVersion) => number | undefined;
  whyNot: (version: PackageVersion) => string;
}

const keyOf = ({ name, version }: PackageVersion): string => `${name}\n${version}`;

/**
 * Of which commits package versions are: of the tag `name_vX.Y.Z.B`, else of the first release candidate that held the
 * version.
 */
export async function versionCommits(
  tx: Pick<Tx, 'sql' | 'db' | 'tenantId'>,
  projectId: string,
  versions: readonly PackageVersion[],
): Promise<VersionCommits> {
  const wanted = [...new Map(versions.map((each) => [keyOf(each), each])).values()];
  const tags = await tagCommits(
    tx,
    projectId,
    wanted.flatMap(({ name, version }) => versionTags(name, version)),
  );
  const commits = new Map<string, number>();
  for (const each of wanted) {
    const tagged = versionTags(each.name, each.version).find((tag) => tags.has(tag));
    if (tagged !== undefined) commits.set(keyOf(each), tags.get(tagged) ?? 0);
  }
  const untagged = wanted.filter((each) => !commits.has(keyOf(each)));
  const held = await tx.sql<PackageVersion & { commitSha: string }>(
    `select v.name, v.version, v.commit_sha as "commitSha"
     from jsonb_to_recordset(?::jsonb) as w (name text, version text)
     join package_version v on v.tenant_id = ? and v.project_id = ? and (v.name, v.version) = (w.name, w.version)`,
    [JSON.stringify(untagged), tx.tenantId, projectId],
  );
  const numbers = await commitNumbers(
    tx,
    projectId,
    held.map(({ commitSha }) => commitSha),
  );
  const heldKeys = new Set(held.map(keyOf));
  for (const each of held) {
    const commit = numbers.get(each.commitSha);
    if (commit !== undefined) commits.set(keyOf(each), commit);
  }
  return {
    of: (version) => commits.get(keyOf(version)),
    whyNot: (version) =>
      heldKeys.has(keyOf(version))
        ? `The commit of ${version.name} ${version.version} is not in the repository: it is not fetched yet, or history was rewritten`
        : `Neither a tag nor a release candidate tells the commit of ${version.name} ${version.version}`,
  };
}
