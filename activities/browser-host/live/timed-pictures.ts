/**
 * Pictures as a stream that says when each was taken: Matroska (RFC 9559) with Motion JPEG, of a length that is not known
 * in advance. So the time of a recording is true however late a busy encoder comes to read it.
 */

const EBML = '1a45dfa3';
const EBML_MAX_ID_LENGTH = '42f2';
const EBML_MAX_SIZE_LENGTH = '42f3';
const DOC_TYPE = '4282';
const DOC_TYPE_VERSION = '4287';
const DOC_TYPE_READ_VERSION = '4285';
const SEGMENT = '18538067';
const INFO = '1549a966';
const TIMESTAMP_SCALE = '2ad7b1';
const TRACKS = '1654ae6b';
const TRACK_ENTRY = 'ae';
const TRACK_NUMBER = 'd7';
const TRACK_UID = '73c5';
const TRACK_TYPE = '83';
const FLAG_LACING = '9c';
const CODEC_ID = '86';
const VIDEO = 'e0';
const PIXEL_WIDTH = 'b0';
const PIXEL_HEIGHT = 'ba';
const CLUSTER = '1f43b675';
const CLUSTER_TIMESTAMP = 'e7';
const SIMPLE_BLOCK = 'a3';

const NANOSECONDS_PER_MS = 1_000_000;
const VIDEO_TRACK = 1;
/** Track 1, no time after that of its cluster, a key frame. */
const BLOCK_HEAD = Buffer.from([0x80 | VIDEO_TRACK, 0, 0, 0x80]);
const UNKNOWN_SIZE = Buffer.from('01ffffffffffffff', 'hex');

function sizeOf(bytes: number): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(bytes));
  size[0] = 1;
  return size;
}

function unsigned(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

function element(id: string, ...parts: readonly Buffer[]): Buffer {
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  return Buffer.concat([Buffer.from(id, 'hex'), sizeOf(bytes), ...parts]);
}

/** What the stream begins with. The size is that of the first picture: much less is taken for half of a picture. */
export const streamHead = ({ width, height }: { width: number; height: number }): Buffer =>
  Buffer.concat([
    element(
      EBML,
      element(EBML_MAX_ID_LENGTH, unsigned(4)),
      element(EBML_MAX_SIZE_LENGTH, unsigned(8)),
      element(DOC_TYPE, Buffer.from('matroska')),
      element(DOC_TYPE_VERSION, unsigned(4)),
      element(DOC_TYPE_READ_VERSION, unsigned(2)),
    ),
    Buffer.from(SEGMENT, 'hex'),
    UNKNOWN_SIZE,
    element(INFO, element(TIMESTAMP_SCALE, unsigned(NANOSECONDS_PER_MS))),
    element(
      TRACKS,
      element(
        TRACK_ENTRY,
        element(TRACK_NUMBER, unsigned(VIDEO_TRACK)),
        element(TRACK_UID, unsigned(VIDEO_TRACK)),
        element(TRACK_TYPE, unsigned(1)),
        element(FLAG_LACING, unsigned(0)),
        element(CODEC_ID, Buffer.from('V_MJPEG')),
        element(VIDEO, element(PIXEL_WIDTH, unsigned(width)), element(PIXEL_HEIGHT, unsigned(height))),
      ),
    ),
  ]);

/** What precedes the bytes of a picture. @param atMs a whole number, not less than that of the picture before. */
export function pictureHead(jpegBytes: number, atMs: number): Buffer {
  const timestamp = element(CLUSTER_TIMESTAMP, unsigned(atMs));
  const blockSize = BLOCK_HEAD.length + jpegBytes;
  const block = Buffer.concat([Buffer.from(SIMPLE_BLOCK, 'hex'), sizeOf(blockSize), BLOCK_HEAD]);
  return Buffer.concat([
    Buffer.from(CLUSTER, 'hex'),
    sizeOf(timestamp.length + block.length + jpegBytes),
    timestamp,
    block,
  ]);
}
