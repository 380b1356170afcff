import { inflateRawSync } from 'node:zlib';

/** The files of a zip archive by path; throws for what is none. Reads what clients of the platform write, no attacks. */
export function filesOfZip(zip: Buffer): Map<string, Buffer> {
  const end = zip.lastIndexOf('PK\u0005\u0006');
  if (end < 0) throw new Error('no archive');
  const files = new Map<string, Buffer>();
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [method, packed, nameLength, extraLength, commentLength, offset] = [
      zip.readUInt16LE(at + 10),
      zip.readUInt32LE(at + 20),
      zip.readUInt16LE(at + 28),
      zip.readUInt16LE(at + 30),
      zip.readUInt16LE(at + 32),
      zip.readUInt32LE(at + 42),
    ];
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength);
    const start = offset + 30 + zip.readUInt16LE(offset + 26) + zip.readUInt16LE(offset + 28);
    const bytes = zip.subarray(start, start + packed);
    if (!name.endsWith('/')) files.set(name, method === 0 ? Buffer.from(bytes) : inflateRawSync(bytes));
    at += 46 + nameLength + extraLength + commentLength;
  }
  return files;
}
