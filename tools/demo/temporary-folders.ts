import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let note: (folder: string) => void = () => {};

/** A new folder under the system's temporary one. Repositories in it are mirrored by projects, so it outlives the demo. */
export function newTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quayside-demo-'));
  note(folder);
  return folder;
}

/** Has each folder noted as soon as it is made, so that those of a demo that was killed are found. */
export function noteTemporaryFolders(by: (folder: string) => void): void {
  note = by;
}
