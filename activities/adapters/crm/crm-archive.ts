import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Entry, fromFdPromise, type ZipFile } from 'yauzl';
import type { ZipEntry } from '../../../domain/orgs/crm/crm-metadata.port.ts';
import type { CrmAnswer } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { malformed } from '../../../domain/orgs/crm/platform-error-rules.ts';
import {
  ZipDefect,
  zipContent,
  zipDefect,
  zipEntries,
  type ZipLimits,
} from '../../../domain/kernel/shared/zip-entries.ts';

const LIMITS: ZipLimits = {
  /** The platform packs at most 10,000 files; metadata files and folders come on top. */
  entries: 25_000,
  /** No component of the platform has a larger file in a retrieve, and the service stores none. */
  entryBytes: 50 * 1_048_576,
  /** The platform's own limit of a retrieve. */
  unpackedBytes: 600 * 1_048_576,
};

interface ArchiveFile {
  write: (bytes: Buffer) => Promise<void>;
  /** Reads what was written as an archive. A defect is `malformed`; what `consume` throws is thrown. */
  read: <Result>(consume: (entries: ZipEntry[]) => Promise<Result>) => Promise<CrmAnswer<Result>>;
}

/** A file that exists during the work alone. It has no name from the start, so that a process that dies leaves nothing. */
export async function withArchive<Result>(work: (file: ArchiveFile) => Promise<Result>): Promise<Result> {
  const path = join(tmpdir(), `quayside-archive-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await rm(path);
    return await work({
      write: (bytes) => file.writeFile(bytes),
      read: (consume) => readArchive(file, consume),
    });
  } finally {
    await file.close();
  }
}

async function readArchive<Result>(
  file: FileHandle,
  consume: (entries: ZipEntry[]) => Promise<Result>,
): Promise<CrmAnswer<Result>> {
  try {
    const zip = await fromFdPromise(file.fd, { lazyEntries: true, autoClose: false, strictFileNames: true }).catch(
      (error: unknown) => {
        throw zipDefect(error);
      },
    );
    const entries = await zipEntries(zip, LIMITS);
    return { isOk: true, value: await consume(entries.map((entry) => zipEntry(zip, entry))) };
  } catch (error) {
    if (error instanceof ZipDefect) return malformed(error.code, error.message);
    throw error;
  }
}

const zipEntry = (zip: ZipFile, entry: Entry): ZipEntry => ({
  path: entry.fileName,
  sizeBytes: entry.uncompressedSize,
  content: () => zipContent(zip, entry),
});
