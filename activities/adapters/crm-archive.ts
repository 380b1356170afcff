import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { type Entry, fromFdPromise, type ZipFile } from 'yauzl';
import type { ZipEntry } from '../../domain/crm/crm-metadata.port.ts';
import type { CrmAnswer } from '../../domain/crm/crm-platform.port.ts';
import { malformed } from '../../domain/crm/platform-error-rules.ts';
import { LocalFailure, MalformedAnswer } from './crm-http.ts';

/** The platform packs at most 10,000 files; metadata files and folders come on top. */
const MAX_ENTRIES = 25_000;
/** The platform's own limit of a retrieve. */
const MAX_UNPACKED_BYTES = 600 * 1_048_576;
/** No component of the platform has a larger file in a retrieve, and the service stores none. */
const MAX_ENTRY_BYTES = 50 * 1_048_576;

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
      async write(bytes) {
        await file.writeFile(bytes).catch((cause: unknown) => {
          throw new LocalFailure('the temporary file of an archive cannot be written', { cause });
        });
      },
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
      notArchive,
    );
    const entries = await checkedEntries(zip);
    return { isOk: true, value: await consume(entries.map((entry) => zipEntry(zip, entry))) };
  } catch (error) {
    if (error instanceof MalformedAnswer) return malformed(error.code, error.message);
    throw error;
  }
}

/** Checks all names and sizes before anything is unpacked: nothing of a hostile archive is used. */
async function checkedEntries(zip: ZipFile): Promise<Entry[]> {
  if (zip.entryCount > MAX_ENTRIES)
    throw new MalformedAnswer(
      'ZIP_ENTRIES',
      `The archive has ${zip.entryCount} entries; at most ${MAX_ENTRIES} are taken.`,
    );
  const names = new Set<string>();
  const files: Entry[] = [];
  const sizes = { packed: 0, unpacked: 0 };
  for await (const entry of eachEntry(zip)) {
    const { fileName, uncompressedSize, compressedSize } = entry;
    if (names.has(fileName)) throw new MalformedAnswer('ZIP_DUPLICATE', `The archive has ${shown(fileName)} twice.`);
    names.add(fileName);
    if (/\p{Cc}/u.test(fileName))
      throw new MalformedAnswer('ZIP_NAME', 'The archive has a name with control characters.');
    if (uncompressedSize > MAX_ENTRY_BYTES)
      throw new MalformedAnswer(
        'ZIP_ENTRY_SIZE',
        `${shown(fileName)} of the archive is larger than ${MAX_ENTRY_BYTES} bytes.`,
      );
    sizes.unpacked += uncompressedSize;
    sizes.packed += compressedSize;
    if (!fileName.endsWith('/')) files.push(entry);
  }
  if (sizes.unpacked > MAX_UNPACKED_BYTES)
    throw new MalformedAnswer('ZIP_SIZE', `The archive unpacks to more than ${MAX_UNPACKED_BYTES} bytes.`);
  // Entries that share their bytes make small archives that unpack without end.
  if (sizes.packed > zip.fileSize) throw new MalformedAnswer('ZIP_OVERLAP', 'Entries of the archive overlap.');
  return files;
}

async function* eachEntry(zip: ZipFile): AsyncGenerator<Entry> {
  try {
    for await (const entry of zip.eachEntry()) yield entry;
  } catch (error) {
    throw defect(error);
  }
}

const zipEntry = (zip: ZipFile, entry: Entry): ZipEntry => ({
  path: entry.fileName,
  sizeBytes: entry.uncompressedSize,
  async *content() {
    try {
      let checksum = 0;
      for await (const chunk of await zip.openReadStreamPromise(entry)) {
        checksum = crc32(chunk as Buffer, checksum);
        yield chunk as Buffer;
      }
      // yauzl compares sizes only.
      if (checksum !== entry.crc32)
        throw new MalformedAnswer('ZIP_CHECKSUM', `${shown(entry.fileName)} of the archive is damaged.`);
    } catch (error) {
      throw defect(error);
    }
  },
});

const notArchive = (error: unknown): never => {
  throw defect(error);
};

/** Failures of the file system are ours; everything else that goes wrong while reading is wrong with the archive. */
function defect(error: unknown): unknown {
  if (error instanceof MalformedAnswer) return error;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== undefined && code !== undefined) return error;
  return new MalformedAnswer('ZIP', 'The archive is damaged, or holds names that lead out of it.');
}

const shown = (name: string): string => JSON.stringify(name.slice(0, 200));
