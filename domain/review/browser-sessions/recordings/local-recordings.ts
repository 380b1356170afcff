import { objectKey } from '../../../kernel/objects/object-key-rules.ts';
import type { ObjectStore } from '../../../kernel/objects/object-store.port.ts';
import { wholeBytes } from '../../../kernel/shared/whole-bytes.ts';
import type { BrowserReplays, Replays, Segment, SessionRef } from '../browser-provider.port.ts';
import { providerFailure } from '../provider-failure-rules.ts';
import { ownAddress, readOwnAddress } from '../hosts/own-address-rules.ts';
import { requestedRange } from '../../../kernel/objects/byte-range-rules.ts';
import { initName, segmentName } from './recorded-playlist-rules.ts';
import type { replayPagesOf } from './replays.queries.ts';

export const PLAYLIST_NAME = 'playlist.m3u8';
/** An hour in segments of two seconds has less. */
const PLAYLIST_MAX_BYTES = 1_048_576;
/** The lines and attributes of a playlist that name a file beside it. */
const FILES = /^[A-Za-z0-9._-]+$|(?<=URI=")[A-Za-z0-9._-]+(?=")/gm;

/** Where a file of the recording of a tab is kept. */
export const recordingKey = (
  { tenantId, sessionId }: Pick<SessionRef, 'tenantId' | 'sessionId'>,
  pageId: number | string,
  fileName: string,
): string => objectKey(tenantId, 'browser-sessions', sessionId, String(pageId), fileName);

interface LocalRecordingParts {
  objects: ObjectStore;
  pagesOf: (ref: SessionRef) => ReturnType<typeof replayPagesOf>;
}

/** Recordings of local browsers, in our object store; they are there without the host that made them. */
export function localRecordings({ objects, pagesOf }: LocalRecordingParts): BrowserReplays {
  const playlistOf = async (ref: SessionRef, pageId: number | string): Promise<Buffer | undefined> => {
    const content = await objects.get(recordingKey(ref, pageId, PLAYLIST_NAME));
    return content && wholeBytes(content, PLAYLIST_MAX_BYTES);
  };

  return {
    name: 'local',
    liveView: async () => ({ isOk: true, value: { kind: 'own' } }),

    replays: async (ref) => ({ isOk: true, value: summaryOf(await pagesOf(ref)) }),

    async playlist(ref, pageId) {
      const body = await playlistOf(ref, pageId);
      return body ? { isOk: true, value: { body, address: ownAddress(pageId, PLAYLIST_NAME) } } : GONE;
    },

    segment: (ref, address, range) => readSegment(objects, ref, address, range),

    async removeRecording(ref) {
      for (const { pageId } of await pagesOf(ref)) {
        const files = new Set((await playlistOf(ref, pageId))?.toString('latin1').match(FILES));
        for (const nameOf of [initName, segmentName])
          for await (const unlisted of storedBehind(objects, ref, pageId, files, nameOf)) files.add(unlisted);
        // The playlist is last: it is what a repeat knows the others by.
        for (const file of [...files, PLAYLIST_NAME]) await objects.remove(recordingKey(ref, pageId, file));
      }
      return { isOk: true, value: null };
    },
  };
}

const VIDEO = { contentType: 'video/mp4' } as const;
async function* noBytes(): AsyncGenerator<Uint8Array> {}
const GONE = providerFailure('not_found', 'The recording has no such part');

/** Files behind those of a playlist: a host that was lost had stored them, but not yet listed. */
async function* storedBehind(
  objects: ObjectStore,
  ref: SessionRef,
  pageId: number,
  listed: ReadonlySet<string>,
  nameOf: (number: number) => string,
): AsyncGenerator<string> {
  for (let number = 0; ; number++) {
    const name = nameOf(number);
    if (listed.has(name)) continue;
    if ((await objects.sizeOf(recordingKey(ref, pageId, name))) === undefined) return;
    yield name;
  }
}

/** What there is of a recording. */
function summaryOf(begun: Awaited<ReturnType<typeof replayPagesOf>>): Replays {
  const pages = begun.filter(({ segments }) => segments > 0);
  const isWhole = begun.every((page) => page.isWhole && page.endedAt !== null);
  const missing = begun.find(({ reason }) => reason !== null)?.reason ?? null;
  return {
    state: pages.length === 0 ? 'none' : isWhole ? 'ready' : 'partial',
    pages: pages.map(({ pageId, title, startedAt, endedAt }) => ({
      pageId: String(pageId),
      title,
      startTimeMs: Date.parse(startedAt),
      endTimeMs: endedAt === null ? null : Date.parse(endedAt),
    })),
    bytes: pages.reduce((sum, { bytes }) => sum + Number(bytes), 0),
    reason:
      pages.length === 0
        ? (missing ?? 'Nothing was recorded.')
        : isWhole
          ? null
          : (missing ?? 'The recording was cut off.'),
  };
}

async function readSegment(
  objects: ObjectStore,
  ref: SessionRef,
  address: string,
  range: string | null,
): ReturnType<BrowserReplays['segment']> {
  const file = readOwnAddress(address);
  if (!file) return GONE;
  const key = recordingKey(ref, file.pageId, file.fileName);
  const size = await objects.sizeOf(key);
  const part = size === undefined ? undefined : requestedRange(range, size);
  if (part === 'unsatisfiable')
    return {
      isOk: true,
      value: { ...VIDEO, status: 416, length: 0, range: `bytes */${size}`, address, body: noBytes() },
    };
  const body = size === undefined ? undefined : await objects.get(key, part);
  if (size === undefined || !body) return GONE;
  const value: Segment = part
    ? {
        ...VIDEO,
        status: 206,
        length: part.end - part.start + 1,
        range: `bytes ${part.start}-${part.end}/${size}`,
        address,
        body,
      }
    : { ...VIDEO, status: 200, length: size, range: null, address, body };
  return { isOk: true, value };
}
