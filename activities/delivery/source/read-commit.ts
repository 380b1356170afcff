import type { GitMirrors, ListedFile, MirrorOf, Remote } from '../../../domain/code/git/mirror/git-mirrors.port.ts';
import { MANIFEST } from '../../../domain/code/git/package-rules.ts';
import type { KnownSource } from '../../../domain/delivery/source/delta-rules.ts';
import { type ProjectFile, readProjectFile } from '../../../domain/delivery/source/project-file-rules.ts';
import type { SourceOrder, SourceRefusal } from '../../../domain/delivery/source/source-build.port.ts';
import type { ConversionPlace, Side, SourceUnit } from '../../../domain/delivery/source/source-converter.port.ts';
import { sourceFiles, whyTooMuchListed, whyTooMuchSource } from '../../../domain/delivery/source/source-file-rules.ts';
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

const IGNORE_FILE = '.forceignore';
const SETTINGS_MAX_BYTES = 1024 * 1024;

/** Reads by the names of files what components a commit has. */
export async function readCommit(
  { deps: { git }, order: { ignoredPaths = [] }, mirror, remote, place }: SourceWork,
  side: Side,
  sha: string,
): Promise<Answer<CommitSource, SourceRefusal>> {
  const refused = (reason: string): SourceRefusal => ({ isOk: false, reason });
  const listed = await listedFiles(git.mirrors, mirror, sha);
  if (typeof listed === 'string') return refused(listed);
  const settings = (name: string) => settingsFile(git.mirrors, { mirror, remote, sha }, listed, name);
  const manifest = await settings(MANIFEST);
  if (!manifest.isOk) return manifest;
  if (manifest.value === undefined) return refused(`The commit has no ${MANIFEST}`);
  const project = readProjectFile(manifest.value);
  if (typeof project === 'string') return refused(project);
  const directories = project.packages.map(({ directory }) => directory);
  const blobs = sourceFiles(listed, new Set(directories));
  if (typeof blobs === 'string') return refused(blobs);
  const ignoring = await settings(IGNORE_FILE);
  if (!ignoring.isOk) return ignoring;
  const forceIgnore = ignoring.value ?? '';
  const read = await place.read(side, {
    files: [...blobs.keys()],
    directories,
    projectFile: project.conversion,
    ignored: forceIgnore,
    ignoredPaths,
  });
  if (!read.isOk) return read;
  return { isOk: true, value: { sha, project, forceIgnore, blobs, ...read.value } };
}

/** All files of a commit, or why there are too many, in words. */
async function listedFiles(mirrors: GitMirrors, mirror: MirrorOf, sha: string): Promise<ListedFile[] | string> {
  const listed: ListedFile[] = [];
  const count = { files: 0, characters: 0 };
  await mirrors.files(mirror, sha, (file) => {
    count.files++;
    count.characters += file.path.length;
    if (whyTooMuchListed(count) === undefined) listed.push(file);
  });
  return whyTooMuchListed(count) ?? listed;
}

/** The text of a file that says how others are read; undefined: there is none. Rejects when it cannot be read now. */
async function settingsFile(
  mirrors: GitMirrors,
  { mirror, remote, sha }: { mirror: MirrorOf; remote: Remote; sha: string },
  listed: readonly ListedFile[],
  name: string,
): Promise<Answer<string | undefined, SourceRefusal>> {
  const entry = listed.find(({ path }) => path === name);
  if (!entry) return { isOk: true, value: undefined };
  if (entry.kind !== 'file')
    return {
      isOk: false,
      reason: `${name} is a symbolic link or submodule, which is not followed: put the file there`,
    };
  const text = await mirrors.file(mirror, remote, sha, name, SETTINGS_MAX_BYTES);
  if (text !== undefined) return { isOk: true, value: text };
  const size = await mirrors.sizeOf(mirror, entry.blob);
  if (size === undefined || size <= SETTINGS_MAX_BYTES) throw new Error(`${name} could not be read from the remote`);
  return { isOk: false, reason: `${name} is larger than ${SETTINGS_MAX_BYTES / 1024 / 1024} MB` };
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
  if (checkout.isOk) return;
  throw checkout.mayPass ? new Error(checkout.reason) : new Refused(checkout.reason);
}
