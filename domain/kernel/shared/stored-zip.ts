import { crc32 } from 'node:zlib';

export interface ZipFile {
  /** ASCII, with slashes. */
  path: string;
  content: Uint8Array;
}

const VERSION = 20;
/** 1 January 1980, the first day that the format knows: the same files give the same bytes. */
const FIRST_DAY = 0x21;

/** A zip archive of a few small files, not compressed (APPNOTE 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16). */
export function storedZip(files: readonly ZipFile[]): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const { path, content } of files) {
    const name = Buffer.from(path, 'ascii');
    // What local headers and entries of the directory have in common, from the needed version to the length of the name.
    const common = Buffer.alloc(24);
    common.writeUInt16LE(VERSION, 0);
    common.writeUInt16LE(FIRST_DAY, 8);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(content.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const place = Buffer.alloc(16);
    place.writeUInt32LE(offset, 12);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, Buffer.alloc(2), name, content]);
    entries.push(Buffer.concat([Buffer.from([0x50, 0x4b, 1, 2, VERSION, 0]), common, place, name]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, directory, Buffer.from('PK\x05\x06', 'latin1'), end]);
}
