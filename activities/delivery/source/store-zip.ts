import { Readable } from 'node:stream';
import yazl from 'yazl';
import type { SourceRefusal } from '../../../domain/delivery/source/source-build.port.ts';
import type { ConvertedFile } from '../../../domain/delivery/source/source-converter.port.ts';
import { ZIP_MAX_BYTES } from '../../../domain/delivery/source/source-file-rules.ts';
import type { ObjectStore } from '../../../domain/kernel/objects/object-store.port.ts';
import type { Answer } from '../../../domain/kernel/outbound/answer.port.ts';

/** The same files make the same zip, whenever that is. */
const MODIFIED = new Date('2000-01-01T00:00:00Z');

/** A file that is read when its turn comes. */
interface ReadFile {
  name: string;
  content: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

class TooLargeError extends Error {}

/** Stores files as a zip, piece by piece; answers its size in bytes. */
export async function storeZip(
  objects: ObjectStore,
  key: string,
  files: readonly (ConvertedFile | ReadFile)[],
): Promise<Answer<number, SourceRefusal>> {
  const zip = new yazl.ZipFile();
  const options = { mtime: MODIFIED, mode: 0o100_644 };
  for (const file of files)
    if ('path' in file) zip.addFile(file.path, file.name, options);
    else zip.addReadStreamLazy(file.name, options, (done) => done(null, Readable.from(file.content())));
  zip.end();
  // A file that cannot be read ends what is read from the zip.
  const output = zip.outputStream as Readable;
  zip.on('error', (error: Error) => output.destroy(error));
  try {
    const { sizeBytes } = await objects.put(key, bounded(output), 'application/zip');
    return { isOk: true, value: sizeBytes };
  } catch (error) {
    if (!(error instanceof TooLargeError)) throw error;
    return { isOk: false, reason: error.message };
  }
}

async function* bounded(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    if (bytes > ZIP_MAX_BYTES)
      throw new TooLargeError(
        `The zip of the deployment is larger than ${ZIP_MAX_BYTES / 1024 / 1024} MB, which the platform takes: deploy fewer packages at a time`,
      );
    yield piece;
  }
}
