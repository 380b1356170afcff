import type { ListedFile } from '../../code/git/mirror/git-mirrors.port.ts';
import { directoryOf, PATH_DEPTH_MAX } from './delta-rules.ts';

/** The files that a deployment takes (limits of the platform), and what its source may be. */
export const ZIP_FILES_MAX = 10_000;
export const ZIP_MAX_BYTES = 39 * 1024 * 1024;
export const UNZIPPED_MAX_BYTES = 600 * 1024 * 1024;
const SOURCE_FILES_MAX = 100_000;
const PATH_LENGTH_MAX = 1_000;
/** All files of a repository are looked through for those of its packages. */
const LISTED_FILES_MAX = 300_000;
const LISTED_PATHS_MAX = 64 * 1024 * 1024;
/** Characters that a zip or a file system of another kind reads as something else; what was no UTF-8 is U+FFFD. */
const ODD_NAME = /[\p{Cc}\\:*?"<>|\uFFFD]|(^|\/)(\.{1,2}|\.git)?(\/|$)/u;

const limits = (max: number) => max.toLocaleString('en');

/** Why so much is not taken, in words, or undefined; asked while it is counted. */
export function whyTooMuchSource({ files, bytes }: { files: number; bytes: number }): string | undefined {
  if (files > SOURCE_FILES_MAX) return `The source has more than ${limits(SOURCE_FILES_MAX)} files`;
  if (bytes > UNZIPPED_MAX_BYTES) return `The source is larger than ${UNZIPPED_MAX_BYTES / 1024 / 1024} MB`;
  return undefined;
}

/** Why a repository has too much to be listed, in words, or undefined. @param characters of all paths. */
export function whyTooMuchListed({ files, characters }: { files: number; characters: number }): string | undefined {
  if (files > LISTED_FILES_MAX) return `The repository has more than ${limits(LISTED_FILES_MAX)} files`;
  return characters > LISTED_PATHS_MAX ? 'The paths of the files of the repository are too long' : undefined;
}

/** Why the platform would not take a deployment of such files, in words, or undefined. */
export function whyTooMuchToDeploy({ files, bytes }: { files: number; bytes: number }): string | undefined {
  if (files > ZIP_FILES_MAX)
    return `The deployment would have ${limits(files)} files: the platform takes ${limits(ZIP_FILES_MAX)}; deploy fewer packages at a time`;
  if (bytes > UNZIPPED_MAX_BYTES)
    return `The deployment would have ${Math.ceil(bytes / 1024 / 1024)} MB unzipped: the platform takes ${UNZIPPED_MAX_BYTES / 1024 / 1024} MB; deploy fewer packages at a time`;
  return undefined;
}

/** The files of a commit that are in some directories, or why they are not taken, in words. */
export function sourceFiles(
  listed: readonly ListedFile[],
  directories: ReadonlySet<string>,
): Map<string, string> | string {
  const blobs = new Map<string, string>();
  for (const { path, kind, blob } of listed) {
    if (directoryOf(directories, path) === undefined) continue;
    const shown = JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
    if (kind === 'link') return `${shown} is a symbolic link, which is not followed: put the file there, or remove it`;
    if (kind === 'submodule') return `${shown} is a submodule, which is not fetched`;
    if (path.length > PATH_LENGTH_MAX || path.split('/').length > PATH_DEPTH_MAX)
      return `The path ${shown} is too long or too deep`;
    if (ODD_NAME.test(path)) return `The name ${shown} has characters that a deployment cannot have`;
    blobs.set(path, blob);
    const tooMuch = whyTooMuchSource({ files: blobs.size, bytes: 0 });
    if (tooMuch !== undefined) return tooMuch;
  }
  return blobs;
}

const LOOSE_SHOWN = 10;

/** What people are told of files that are deployed with nothing. */
export function looseWarning(loose: readonly string[]): string[] {
  if (loose.length === 0) return [];
  const shown = loose.slice(0, LOOSE_SHOWN).join(', ');
  const more = loose.length > LOOSE_SHOWN ? ` and ${loose.length - LOOSE_SHOWN} more` : '';
  return [`Files that belong to no component are not deployed: ${shown}${more}`];
}
