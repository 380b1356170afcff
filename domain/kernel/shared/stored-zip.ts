import { buffer } from 'node:stream/consumers';
import yazl from 'yazl';

export interface ZipFile {
  /** With slashes. */
  path: string;
  content: Uint8Array;
}

/** The first day that the format knows: the same files give the same bytes. */
const FIRST_DAY = new Date(1980, 0, 1);

/** A zip archive of a few small files, not compressed. */
export function storedZip(files: readonly ZipFile[]): Promise<Buffer> {
  const zip = new yazl.ZipFile();
  for (const { path, content } of files)
    zip.addBuffer(Buffer.from(content), path, { mtime: FIRST_DAY, compress: false, mode: 0o100_644 });
  zip.end();
  return buffer(zip.outputStream);
}
