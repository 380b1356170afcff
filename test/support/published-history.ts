import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { importCommits, type TestRepository } from './repository.ts';

/** A version of a package that was published, as its changelog tells it. */
interface Published {
  packageName: string;
  version: string;
  /** Seconds since the epoch; undefined where the changelog names no day. */
  day: number | undefined;
  text: string;
}

const SECTION = /^(?:#{1,4} +)?\[?v?(\d+\.\d+\.\d+[\w.+-]*)\b(.*)$/;
const SECTIONS_MAX = 60;

/** Sections of a changelog, oldest first. */
function publishedIn(packageName: string, changelog: string): Published[] {
  const sections: Published[] = [];
  for (const line of changelog.split(/\r?\n/)) {
    const [, version, rest = ''] = SECTION.exec(line) ?? [];
    const current = sections.at(-1);
    if (version !== undefined) {
      const day = /\d{4}-\d\d-\d\d/.exec(rest)?.[0];
      sections.push({
        packageName,
        version,
        day: day === undefined ? undefined : Date.parse(day) / 1_000 || undefined,
        text: '',
      });
    } else if (current) current.text += `${line}\n`;
  }
  const distinct = new Map(sections.map((each) => [each.version, each]));
  return [...distinct.values()].slice(0, SECTIONS_MAX).toReversed();
}

/**
 * A history of real releases: every version that the changelogs under `node_modules` tell of is a commit to its
 * package's folder, in the order of their days as far as they name any, with the text of its section as message and
 * content. Every third comes in by a merge of a branch that began at the release before.
 * @param every only each so many-th package.
 * @returns the packages with their folders and the tags of their versions, in order.
 */
export function importPublishedVersions(
  repository: TestRepository,
  every = 1,
): { packageName: string; path: string; tags: string[] }[] {
  const files = globSync('node_modules/{*,@*/*}/{CHANGELOG,HISTORY,History,CHANGES}.md')
    .toSorted()
    .filter((_, index) => index % every === 0);
  const byPackage = files.flatMap((file) => {
    const manifest = `${dirname(file)}/package.json`;
    if (!existsSync(manifest)) return [];
    const { name = basename(dirname(file)) } = JSON.parse(readFileSync(manifest, 'utf8')) as { name?: string };
    const published = publishedIn(name, readFileSync(file, 'utf8'));
    return published.length < 2 ? [] : [{ packageName: name, path: `packages/${name}`, published }];
  });
  const all = byPackage.flatMap(({ path, published }) => {
    let day = 0;
    return published.map((each) => ({ ...each, path, day: (day = Math.max(day + 1, each.day ?? 0)) }));
  });
  const inOrder = all.toSorted((a, b) => a.day - b.day);
  const setting = Object.fromEntries(byPackage.map(({ packageName, path }) => [packageName, path]));
  importCommits(repository, [
    { message: 'Start', time: 1, files: { 'README.md': JSON.stringify(setting) } },
    ...inOrder.map(({ packageName, version, day, text, path }, index) => ({
      message: `${packageName} ${version}\n\n${text.trim()}`,
      time: day,
      files: { [`${path}/CHANGELOG.md`]: text, [`${path}/version`]: version },
      tag: tagOf(packageName, version),
      ...(index % 3 === 2 && { mergeAs: `Merge pull request #${index} from release/${version}` }),
    })),
  ]);
  return byPackage.map(({ packageName, path, published }) => ({
    packageName,
    path,
    tags: published.map(({ version }) => tagOf(packageName, version)),
  }));
}

const tagOf = (packageName: string, version: string): string => `${packageName}_v${version}`;
