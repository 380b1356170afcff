/** There are more bytes than are taken. */
export class TooLargeError extends Error {}

/** All of a content that comes in pieces. Throws `TooLargeError`. */
export async function wholeBytes(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<Buffer<ArrayBuffer>> {
  const taken: Uint8Array[] = [];
  for await (const piece of boundedBytes(pieces, maxBytes)) taken.push(piece);
  return Buffer.concat(taken);
}

/** The pieces of a content; throws `TooLargeError` when there are more bytes. */
export async function* boundedBytes(pieces: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > maxBytes) throw new TooLargeError(`the answer is larger than ${maxBytes} bytes`);
    yield piece;
  }
}
