import { crc32 } from 'node:zlib';
import type { Entry, ZipFile } from 'yauzl';

/** What is wrong with an archive; the message is for whoever sent it. */
export class ZipDefect extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface ZipLimits {
  entries: number;
  /** What one file may take when it is unpacked. */
  entryBytes: number;
  /** What all of them may take together. */
  unpackedBytes: number;
}

/** Type of a file in its mode, which archives of Unix have in the upper half of `externalFileAttributes`. */
const FILE_TYPE = 0o170_000;
const SYMBOLIC_LINK = 0o120_000;

/**
 * The files of an archive. Checks all names and sizes before anything is unpacked: nothing of a hostile archive is used.
 * Throws `ZipDefect`, and errors of the file system as they are.
 * @param zip opened with `strictFileNames`, which refuses names that lead out of the archive.
 */
export async function zipEntries(zip: ZipFile, limits: ZipLimits): Promise<Entry[]> {
  if (zip.entryCount > limits.entries)
    throw new ZipDefect(
      'ZIP_ENTRIES',
      `The archive has ${zip.entryCount} entries; at most ${limits.entries} are taken.`,
    );
  const names = new Set<string>();
  const files: Entry[] = [];
  const sizes = { packed: 0, unpacked: 0 };
  for await (const entry of eachEntry(zip)) {
    const { fileName, uncompressedSize, compressedSize, externalFileAttributes } = entry;
    if (names.has(fileName)) throw new ZipDefect('ZIP_DUPLICATE', `The archive has ${shown(fileName)} twice.`);
    names.add(fileName);
    if (/\p{Cc}/u.test(fileName)) throw new ZipDefect('ZIP_NAME', 'The archive has a name with control characters.');
    if (((externalFileAttributes >>> 16) & FILE_TYPE) === SYMBOLIC_LINK)
      throw new ZipDefect('ZIP_LINK', `${shown(fileName)} of the archive is a symbolic link.`);
    if (uncompressedSize > limits.entryBytes)
      throw new ZipDefect(
        'ZIP_ENTRY_SIZE',
        `${shown(fileName)} of the archive is larger than ${limits.entryBytes} bytes.`,
      );
    sizes.unpacked += uncompressedSize;
    sizes.packed += compressedSize;
    if (!fileName.endsWith('/')) files.push(entry);
  }
  if (sizes.unpacked > limits.unpackedBytes)
    throw new ZipDefect('ZIP_SIZE', `The archive unpacks to more than ${limits.unpackedBytes} bytes.`);
  // Entries that share their bytes make small archives that unpack without end.
  if (sizes.packed > zip.fileSize) throw new ZipDefect('ZIP_OVERLAP', 'Entries of the archive overlap.');
  return files;
}

async function* eachEntry(zip: ZipFile): AsyncGenerator<Entry> {
  try {
    for await (const entry of zip.eachEntry()) yield entry;
  } catch (error) {
    throw zipDefect(error);
  }
}

/** The bytes of a file, no more than its entry says. Throws `ZipDefect`, also behind the last of them. */
export async function* zipContent(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  try {
    let checksum = 0;
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      checksum = crc32(chunk as Buffer, checksum);
      yield chunk as Buffer;
    }
    // yauzl compares sizes only.
    if (checksum !== entry.crc32)
      throw new ZipDefect('ZIP_CHECKSUM', `${shown(entry.fileName)} of the archive is damaged.`);
  } catch (error) {
    throw zipDefect(error);
  }
}

/** Failures of the file system are ours; everything else that goes wrong while reading is wrong with the archive. */
export function zipDefect(error: unknown): unknown {
  if (error instanceof ZipDefect) return error;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== undefined && code !== undefined) return error;
  return new ZipDefect('ZIP', 'The archive is damaged, or holds names that lead out of it.');
}

const shown = (name: string): string => JSON.stringify(name.slice(0, 200));
