const MARKER = 0xff;
const START_OF_SCAN = 0xda;
/** Frame headers (ITU-T T.81, B.1.1.3): C0 to CF without the tables C4 and CC and the reserved C8. */
const isFrameHeader = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

/** The size of a JPEG in pixels; undefined: it is none. */
export function jpegSize(jpeg: Buffer): { width: number; height: number } | undefined {
  for (let at = 2; at + 9 <= jpeg.length && jpeg[at] === MARKER; at += 2 + jpeg.readUInt16BE(at + 2)) {
    const marker = jpeg[at + 1] ?? START_OF_SCAN;
    if (isFrameHeader(marker)) return { height: jpeg.readUInt16BE(at + 5), width: jpeg.readUInt16BE(at + 7) };
    if (marker === START_OF_SCAN) break;
  }
  return undefined;
}
