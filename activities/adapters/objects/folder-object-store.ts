import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { ObjectStore } from '../../../domain/kernel/objects/object-store.port.ts';

/** Objects as files of a folder, which all processes must share. A file appears under its name when it is complete and on disk. */
export function createFolderObjectStore(folder: string): ObjectStore {
  const pathOf = (key: string) => join(folder, ...key.split('/'));
  // No key begins so: tenants have ids.
  const drafts = join(folder, '.drafts');
  return {
    put: (key, content) => store(pathOf(key), drafts, content),

    async get(key, range) {
      const file = await open(pathOf(key)).catch(ignoreMissing);
      return file && createReadStream('', { fd: file, ...range });
    },

    async sizeOf(key) {
      return (await stat(pathOf(key)).catch(ignoreMissing))?.size;
    },

    async *keys() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(ignoreMissing);
      for (const entry of entries ?? []) {
        if (!entry.isFile() || entry.parentPath === drafts) continue;
        yield relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/');
      }
    },

    async remove(key) {
      await rm(pathOf(key), { force: true });
    },

    async removeAbandoned(unchangedMs) {
      const names = (await readdir(drafts).catch(ignoreMissing)) ?? [];
      let removed = 0;
      for (const draft of names.map((name) => join(drafts, name))) {
        const state = await stat(draft).catch(ignoreMissing);
        if (!state || Date.now() - state.mtimeMs < unchangedMs) continue;
        await rm(draft, { force: true });
        removed++;
      }
      return removed;
    },
  };
}

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}

/** The new name is lost in a crash until the folder itself is on disk. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Writes a draft, and gives it its name when all of it is on disk. */
async function store(
  path: string,
  drafts: string,
  content: Parameters<ObjectStore['put']>[1],
): ReturnType<ObjectStore['put']> {
  for (const needed of [dirname(path), drafts]) await mkdir(needed, { recursive: true, mode: 0o700 });
  const draft = join(drafts, randomUUID());
  const hash = createHash('sha256');
  let sizeBytes = 0;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      for await (const piece of content) {
        hash.update(piece);
        sizeBytes += piece.byteLength;
        await file.writeFile(piece);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  return { sizeBytes, sha256: hash.digest('hex') };
}
