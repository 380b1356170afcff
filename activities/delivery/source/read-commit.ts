import type { GitMirrors, ListedFile, MirrorOf, Remote } from '../../../domain/code/git/mirror/git-mirrors.port.ts';
import { MANIFEST } from '../../../domain/code/git/package-rules.ts';
import type { KnownSource } from '../../../domain/delivery/source/delta-rules.ts';
import { type ProjectFile, readProjectFile } from '../../../domain/delivery/source/project-file-rules.ts';
import type { SourceOrder, SourceRefusal } from '../../../domain/delivery/source/source-build.port.ts';
import type { ConversionPlace, Side, SourceUnit } from '../../../domain/delivery/source/source-converter.port.ts';
import { sourceFiles, whyTooMuchSource } from '../../../domain/delivery/source/source-file-rules.ts';
import type { Answer } from '../../../domain/kernel/outbound/answer.port.ts';
import type { Deps } from '../../deps.ts';

export type SourceDeps = Pick<Deps, 'objects' | 'source'> & { git: { mirrors: GitMirrors } };

/** What all steps of one build share. */
export interface SourceWork {
  deps: SourceDeps;
  order: SourceOrder;
  mirror: MirrorOf;
  remote: Remote;
  place: ConversionPlace;
  signal: AbortSignal;
  warnings: string[];
}

/** The source cannot be built, for a reason that does not pass. */
export class Refused extends Error {}

export function valueOf<Value>(answer: Answer<Value, SourceRefusal>): Value {
  if (!answer.isOk) throw new Refused(answer.reason);
  return answer.value;
}

export interface CommitSource extends KnownSource {
  sha: string;
  project: ProjectFile;
  forceIgnore: string;
  /** Files that belong to no component. */
  loose: readonly string[];
}

const IGNORED = '.forceignore';
const SETTINGS_MAX_BYTES = 1024 * 1024;

/** Reads by the names of files what components a commit has. */
export async function readCommit(
  { deps: { git }, order: { ignoredPaths = [] }, mirror, remote, place }: SourceWork,
  side: Side,
  sha: string,
): Promise<Answer<CommitSource, SourceRefusal>> {
  const refused = (reason: string): SourceRefusal => ({ isOk: false, reason });
  const listed: ListedFile[] = [];
  await git.mirrors.files(mirror, sha, (file) => listed.push(file));
  const settings: string[] = [];
  for (const name of [MANIFEST, IGNORED]) {
    const isThere = listed.some(({ path, kind }) => path === name && kind === 'file');
    if (!isThere && name === MANIFEST) return refused(`The commit has no ${MANIFEST}`);
    const text = isThere ? await git.mirrors.file(mirror, remote, sha, name, SETTINGS_MAX_BYTES) : '';
    if (text === undefined) return refused(`${name} is larger than 1 MB, or could not be fetched from the remote`);
    settings.push(text);
  }
  const [text = '', forceIgnore = ''] = settings;
  const project = readProjectFile(text);
  if (typeof project === 'string') return refused(project);
  const directories = project.packages.map(({ directory }) => directory);
  const blobs = sourceFiles(listed, directories);
  if (typeof blobs === 'string') return refused(blobs);
  // None of the environment's may take back one of the repository's.
  const own = ignoredPaths.filter((pattern) => !pattern.startsWith('!'));
  const read = await place.read(side, {
    files: [...blobs.keys()],
    directories,
    projectFile: project.conversion,
    ignored: [forceIgnore, ...own].join('\n'),
  });
  if (!read.isOk) return read;
  return { isOk: true, value: { sha, project, forceIgnore, blobs, ...read.value } };
}

/** Puts the files into the place that converting some units reads, or looking into them. */
export async function checkOutUnits(
  { deps: { git }, mirror, remote, place, signal }: SourceWork,
  side: Side,
  sha: string,
  units: readonly SourceUnit[],
): Promise<void> {
  const read = new Set(units.flatMap(({ files, needs }) => [...files, ...needs]));
  if (read.size === 0) return;
  const order = {
    sha,
    folder: place.folders[side],
    isLeftOut: (path: string) => !read.has(path),
    whyTooLarge: whyTooMuchSource,
  };
  const checkout = await git.mirrors.checkout(mirror, remote, order, signal);
  if (!checkout.isOk) throw new Refused(checkout.reason);
}
