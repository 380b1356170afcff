import { Readable } from 'node:stream';
import type { Segment } from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import { isPlaylist, rewritePlaylist } from '../../../domain/review/browser-sessions/recordings/playlist-rules.ts';
import {
  referencesExpireAt,
  referencesOf,
  type ReplayPage,
} from '../../../domain/review/browser-sessions/recordings/replay-references.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { TooLargeError, wholeBytes } from '../../../domain/kernel/shared/whole-bytes.ts';
import { RawReply, reply, type Reply } from '../../http/replies.ts';
import type { Scope } from '../../http/scope.ts';

export const PLAYLIST_TYPE = 'application/vnd.apple.mpegurl';
/** What of a segment is looked at to see whether it is a playlist. */
const MAGIC_BYTES = 10;
const PLAYLIST_MAX_BYTES = 8 * 1_048_576;

export const replayUrl = ({ publicUrl }: Pick<Scope, 'publicUrl'>, sessionId: string, pageId: string): string =>
  `${publicUrl}/api/browser-sessions/${sessionId}/replays/${pageId}`;

/** A playlist whose addresses are references for the route of segments. */
export function playlistReply(
  { adapters, publicUrl, now }: Pick<Scope, 'adapters' | 'publicUrl' | 'now'>,
  page: ReplayPage,
  { body, address }: { body: Buffer; address: string },
): RawReply {
  const expiresAtS = referencesExpireAt(now(), adapters.browsers.replayLinkHours);
  const prefix = `${replayUrl({ publicUrl }, page.sessionId, page.pageId)}/segment?u=`;
  const rewritten = rewritePlaylist(body, address, (addresses) =>
    referencesOf(adapters.encryption, page, expiresAtS, addresses).map((reference) => `${prefix}${reference}`),
  );
  return new RawReply(PLAYLIST_TYPE, rewritten, { 'Cache-Control': 'private, no-store' });
}

/** A segment as it streams in; a playlist behind a reference is rewritten, too. Throws `range_not_satisfiable`. */
export async function segmentReply(
  scope: Pick<Scope, 'adapters' | 'publicUrl' | 'now'>,
  page: ReplayPage,
  { status, contentType, length, range, address, body }: Segment,
): Promise<RawReply | Reply<RawReply>> {
  if (status === 416)
    throw new DomainError('range_not_satisfiable', 'The segment has no such part', {
      headers: range === null ? {} : { 'Content-Range': range },
    });
  const chunks = body[Symbol.asyncIterator]();
  const first = await firstChunk(chunks);
  if (contentType.includes('mpegurl') || isPlaylist(first)) {
    if (status === 206) {
      await chunks.return?.();
      throw new DomainError('range_not_satisfiable', 'A playlist comes whole');
    }
    return playlistReply(scope, page, { body: await wholePlaylist(joined(first, chunks)), address });
  }
  const answer = new RawReply(contentType, Readable.from(joined(first, chunks), { objectMode: false }), {
    'Cache-Control': 'private, max-age=3600',
    'Accept-Ranges': 'bytes',
    'X-Content-Type-Options': 'nosniff',
    ...(length !== null && { 'Content-Length': String(length) }),
    ...(range !== null && { 'Content-Range': range }),
  });
  return status === 206 ? reply(answer, { status }) : answer;
}

async function wholePlaylist(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  try {
    return await wholeBytes(chunks, PLAYLIST_MAX_BYTES);
  } catch (error) {
    if (error instanceof TooLargeError) throw new DomainError('upstream_error', 'The playlist is too large');
    throw error;
  }
}

async function firstChunk(chunks: AsyncIterator<Uint8Array>): Promise<Buffer> {
  let first = Buffer.alloc(0);
  while (first.length < MAGIC_BYTES) {
    const { value, done } = await chunks.next();
    if (done === true) break;
    first = Buffer.concat([first, value]);
  }
  return first;
}

async function* joined(first: Buffer, chunks: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (first.length > 0) yield first;
    for (;;) {
      const { value, done } = await chunks.next();
      if (done === true) return;
      yield value;
    }
  } finally {
    await chunks.return?.();
  }
}
