import { objectKey } from '../objects/object-key-rules.ts';
import type { ObjectStore } from '../objects/object-store.port.ts';
import type { BrowserReplays, ProviderAnswer, ProviderFailure, Segment } from './browser-provider.port.ts';
import { requestedRange } from './byte-range-rules.ts';
import { endedPlaylist } from './playlist-rules.ts';

export const PLAYLIST_NAME = 'playlist.m3u8';
/** Of an hour in segments of two seconds; a longer one was not written by us. */
const PLAYLIST_MAX_BYTES = 1_048_576;
/** Segments in a playlist of ours are relative; addresses of this form name them without naming the store. */
const ADDRESS = /^recording:\/\/page\/(\d{1,3})\/([A-Za-z0-9._-]{1,100})$/;

/** Where a file of the recording of a tab is kept. */
export const recordingKey = (
  { tenantId, sessionId }: { tenantId: string; sessionId: string },
  pageId: number | string,
  fileName: string,
): string => objectKey(tenantId, 'browser-sessions', sessionId, String(pageId), fileName);

/** Recordings of local browsers, which are in our object store. */
export function localRecordings(objects: ObjectStore): Pick<BrowserReplays, 'playlist' | 'segment'> {
  return {
    async playlist(ref, pageId) {
      const content = await objects.get(recordingKey(ref, pageId, PLAYLIST_NAME));
      if (!content) return gone;
      const chunks: Uint8Array[] = [];
      let size = 0;
      for await (const chunk of content) {
        size += chunk.length;
        if (size > PLAYLIST_MAX_BYTES) throw new Error('The playlist of a recording is larger than it can be');
        chunks.push(chunk);
      }
      return {
        isOk: true,
        value: { body: Buffer.concat(chunks), address: `recording://page/${pageId}/${PLAYLIST_NAME}` },
      };
    },

    async segment(ref, address, range): Promise<ProviderAnswer<Segment>> {
      const [, pageId = '', fileName] = ADDRESS.exec(address) ?? [];
      if (fileName === undefined) return gone;
      const key = recordingKey(ref, pageId, fileName);
      const size = await objects.sizeOf(key);
      if (size === undefined) return gone;
      const part = requestedRange(range, size);
      if (part === 'unsatisfiable') {
        const value = { status: 416, contentType: VIDEO, length: 0, range: `bytes */${size}`, body: NOTHING } as const;
        return { isOk: true, value };
      }
      const body = await objects.get(key, part);
      if (!body) return gone;
      return {
        isOk: true,
        value: part
          ? {
              status: 206,
              contentType: VIDEO,
              length: part.end - part.start + 1,
              range: `bytes ${part.start}-${part.end}/${size}`,
              body,
            }
          : { status: 200, contentType: VIDEO, length: size, range: null, body },
      };
    },
  };
}

/** The playlist of a recording that does not grow any more: players stop at its end also where its writer died before it. */
export const completed = (playlist: Buffer): Buffer =>
  Buffer.from(endedPlaylist(playlist.toString('latin1')), 'latin1');

const VIDEO = 'video/mp4';
const NOTHING: AsyncIterable<Uint8Array> = (async function* () {})();
const gone: ProviderFailure = { isOk: false, kind: 'not_found', message: 'The recording has no such part' };
