import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipPart {
  name: string;
  content: Buffer | string;
  /** What the archive says instead of the true size. */
  claimedSize?: number;
  /** The archive has no bytes of its own for it, but gives those of the part before. */
  isShared?: boolean;
  /** Type and permissions, as archives of Unix have them. */
  mode?: number;
}

/** Writes a zip archive, taking names as they are: also those that no honest archive has. */
export function zipOf(parts: readonly ZipPart[]): Buffer {
  const pieces: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  let lastAt = 0;
  for (const { name, content, claimedSize, isShared = false, mode = 0 } of parts) {
    const data = Buffer.from(content);
    // A compressor costs more than it saves on small files.
    const isStored = data.length < 256;
    const packed = isStored ? data : deflateRawSync(data, { level: 1 });
    const nameBytes = Buffer.from(name);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(0x0800, 2);
    shared.writeUInt16LE(isStored ? 0 : 8, 4);
    shared.writeUInt16LE(0x21, 8);
    shared.writeUInt32LE(crc32(data), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(claimedSize ?? data.length, 18);
    shared.writeUInt16LE(nameBytes.length, 22);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), shared, nameBytes, packed]);
    const rest = Buffer.alloc(14);
    if (!isShared) lastAt = offset;
    rest.writeUInt16LE(mode, 8);
    rest.writeUInt32LE(lastAt, 10);
    directory.push(Buffer.concat([Buffer.from('PK\u0001\u0002\u0014\u0000'), shared, rest, nameBytes]));
    if (isShared) continue;
    pieces.push(local);
    offset += local.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 0, 'latin1');
  end.writeUInt16LE(Math.min(parts.length, 0xffff), 8);
  end.writeUInt16LE(Math.min(parts.length, 0xffff), 10);
  end.writeUInt32LE(index.length, 12);
  end.writeUInt32LE(offset, 16);
  if (parts.length <= 0xffff) return Buffer.concat([...pieces, index, end]);
  return Buffer.concat([...pieces, index, largeEnd(parts.length, index.length, offset), end]);
}

/** ZIP64's end of the directory, for more entries than the old one can count. */
function largeEnd(entries: number, indexSize: number, indexAt: number): Buffer {
  const record = Buffer.alloc(56);
  record.write('PK\u0006\u0006', 0, 'latin1');
  record.writeBigUInt64LE(44n, 4);
  record.writeUInt16LE(45, 12);
  record.writeUInt16LE(45, 14);
  record.writeBigUInt64LE(BigInt(entries), 24);
  record.writeBigUInt64LE(BigInt(entries), 32);
  record.writeBigUInt64LE(BigInt(indexSize), 40);
  record.writeBigUInt64LE(BigInt(indexAt), 48);
  const locator = Buffer.alloc(20);
  locator.write('PK\u0006\u0007', 0, 'latin1');
  locator.writeBigUInt64LE(BigInt(indexAt + indexSize), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([record, locator]);
}

/** Archives that attack whoever unpacks them. */
export const HOSTILE_ZIPS = {
  parent: () => zipOf([{ name: 'unpackaged/../../../etc/evil', content: 'evil' }]),
  absolute: () => zipOf([{ name: '/etc/evil', content: 'evil' }]),
  backslash: () => zipOf([{ name: 'unpackaged\\..\\evil', content: 'evil' }]),
  duplicate: () =>
    zipOf([
      { name: 'unpackaged/classes/A.cls', content: 'first' },
      { name: 'unpackaged/classes/A.cls', content: 'second' },
    ]),
  /** 300 MB of zeros in some 300 KB. */
  large: () => zipOf([{ name: 'unpackaged/classes/A.cls', content: Buffer.alloc(300 * 1_048_576) }]),
  /** Unpacks to more than it says. */
  liar: () => zipOf([{ name: 'unpackaged/classes/A.cls', content: Buffer.alloc(1_048_576), claimedSize: 10 }]),
  /** Says that it unpacks to 637 MB, in files of which each may be. */
  sum: () =>
    zipOf(
      Array.from({ length: 13 }, (_, index) => ({
        name: `unpackaged/classes/A${index}.cls`,
        content: 'x'.repeat(300),
        claimedSize: 49 * 1_048_576,
      })),
    ),
  overlap: () =>
    zipOf(
      Array.from({ length: 100 }, (_, index) => ({
        name: `unpackaged/classes/A${index}.cls`,
        content: 'x'.repeat(200),
        isShared: index > 0,
      })),
    ),
  control: () => zipOf([{ name: 'unpackaged/classes/A\u0001.cls', content: 'A' }]),
  many: () =>
    zipOf(Array.from({ length: 100_000 }, (_, index) => ({ name: `unpackaged/classes/A${index}.cls`, content: '' }))),
  corrupt: () => {
    const zip = zipOf([{ name: 'unpackaged/classes/A.cls', content: 'class A {}' }]);
    zip.write('X', zip.indexOf('class A'));
    return zip;
  },
  truncated: () => zipOf([{ name: 'unpackaged/classes/A.cls', content: 'x'.repeat(10_000) }]).subarray(0, 60),
  garbage: () => Buffer.from('this is no archive at all'),
} as const;
export type HostileZip = keyof typeof HOSTILE_ZIPS;
