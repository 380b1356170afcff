/** Paths that a pull request changes. */
export interface ChangedFiles {
  added: string[];
  deleted: string[];
  modified: string[];
  /** There are more. */
  truncated: boolean;
}

export type FileChange = 'added' | 'deleted' | 'modified';

/** The most paths that are kept of a pull request. */
export const FILES_MAX = 300;
const PATH_MAX = 4_000;

/** Collects the paths of a pull request, as far as they are kept. */
export class ChangedFilesList {
  readonly files: ChangedFiles = { added: [], deleted: [], modified: [], truncated: false };
  #kept = 0;

  add(change: FileChange, path: string): void {
    if (this.#kept >= FILES_MAX) {
      this.files.truncated = true;
      return;
    }
    this.#kept++;
    this.files[change].push(path.slice(0, PATH_MAX).toWellFormed().replaceAll('\0', '\ufffd'));
  }
}
