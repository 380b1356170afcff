import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];

/** A new folder under the system's temporary one. Repositories in it are mirrored by projects, so it outlives the demo. */
export function newTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quayside-demo-'));
  made.push(folder);
  return folder;
}

/** The folders that this process made. */
export const temporaryFolders = (): readonly string[] => made;
