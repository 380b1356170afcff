import type { IncomingMessage, ServerResponse } from 'node:http';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';

/** For bodies that are received or large and in use, of all requests together; senders without a credential could fill the memory. */
const HELD_MAX_BYTES = 256 * 1024 * 1024;
/** For those of one holder, so that whoever sends large bodies slowly keeps out nobody else. */
const HOLDER_MAX_BYTES = HELD_MAX_BYTES / 2;
const FIRST_BYTES = 16 * 1024;
/** Smaller bodies count only while they are received. */
const KEPT_MIN_BYTES = 1024 * 1024;

/**
 * Receives the body of a request. Throws `payload_too_large` as soon as it is known to be too large, `invalid_request`
 * when it breaks off, and `unavailable` when the bodies of its holder, or of all, take too much memory.
 */
export type ReadBytes = (request: IncomingMessage, response: ServerResponse, limitBytes: number) => Promise<Buffer>;

/** Counts bytes of a body that is read while it arrives; throws `unavailable` when there is no room for them. */
export type CountBytes = (bytes: number) => void;

/** Receives the bodies of one holder. */
export interface Bodies {
  readBytes: ReadBytes;
  /** What is counted is free again when the reply is done, because the reader of the body may keep all of it. */
  counted: (response: ServerResponse) => CountBytes;
}

const tooMany = () =>
  new DomainError('unavailable', 'Too many large bodies are being received or read; try again later');

export const tooLarge = (limitBytes: number) =>
  new DomainError('payload_too_large', `The body is larger than ${limitBytes} bytes`);

/** Whether the sender waits for `100 Continue` before it sends the body (RFC 9110, 10.1.1). */
export const awaitsContinue = (request: IncomingMessage): boolean =>
  request.httpVersion === '1.1' && /^100-continue$/i.test(request.headers.expect ?? '');

/** @returns for each holder, a tenant or all strangers together, what receives its bodies. */
export function createReadBytes(
  heldMaxBytes = HELD_MAX_BYTES,
  holderMaxBytes = HOLDER_MAX_BYTES,
  keptMinBytes = KEPT_MIN_BYTES,
): (holder: string) => Bodies {
  let heldBytes = 0;
  const heldBy = new Map<string, number>();
  const hold = (holder: string, bytes: number) => {
    heldBytes += bytes;
    const held = (heldBy.get(holder) ?? 0) + bytes;
    if (held === 0) heldBy.delete(holder);
    else heldBy.set(holder, held);
  };
  const hasRoomFor = (holder: string, bytes: number): boolean =>
    heldBytes + bytes <= heldMaxBytes && (heldBy.get(holder) ?? 0) + bytes <= holderMaxBytes;

  const counted =
    (holder: string) =>
    (response: ServerResponse): CountBytes => {
      let countedBytes = 0;
      response.once('close', () => {
        hold(holder, -countedBytes);
        countedBytes = 0;
      });
      return (bytes) => {
        if (response.closed) return;
        if (!hasRoomFor(holder, bytes)) throw tooMany();
        countedBytes += bytes;
        hold(holder, bytes);
      };
    };
  /** Whoever reads the body may keep it, and wait for its turn, until the reply is done. */
  const keep = (holder: string, response: ServerResponse, bytes: number) =>
    response.once('close', () => hold(holder, -bytes));
  const readBytesOf =
    (holder: string): ReadBytes =>
    (request, response, limitBytes) =>
      new Promise((resolve, reject) => {
        const declared = request.headers['content-length'];
        if (Number(declared ?? 0) > limitBytes) return reject(tooLarge(limitBytes));
        // One buffer that grows, because a body may come in millions of chunks.
        let buffer = Buffer.allocUnsafe(Math.min(FIRST_BYTES, Number(declared ?? FIRST_BYTES)));
        let length = 0;
        hold(holder, buffer.length);

        const settle = (error?: DomainError) => {
          request.off('data', onData).off('end', onEnd).off('close', onBrokenOff).off('error', onBrokenOff);
          if (error || response.closed || length <= keptMinBytes) hold(holder, -buffer.length);
          else keep(holder, response, buffer.length);
          if (error) reject(error);
          else resolve(buffer.subarray(0, length));
        };
        const onData = (chunk: Buffer) => {
          const needed = length + chunk.length;
          if (needed > limitBytes) return settle(tooLarge(limitBytes));
          if (needed > buffer.length) {
            const grown = Math.min(limitBytes, Math.max(needed, 2 * buffer.length));
            if (!hasRoomFor(holder, grown - buffer.length)) return settle(tooMany());
            const larger = Buffer.allocUnsafe(grown);
            buffer.copy(larger, 0, 0, length);
            hold(holder, grown - buffer.length);
            buffer = larger;
          }
          chunk.copy(buffer, length);
          length = needed;
        };
        const onEnd = () => settle();
        const onBrokenOff = () =>
          settle(new DomainError('invalid_request', 'The request ended before its body was complete'));

        request.on('data', onData).on('end', onEnd).on('close', onBrokenOff).on('error', onBrokenOff);
        if (awaitsContinue(request)) response.writeContinue();
      });

  return (holder) => ({ readBytes: readBytesOf(holder), counted: counted(holder) });
}
