/** A part of the recording of a tab that one run of the encoder made. */
export interface RecordedPart {
  segments: RecordedSegment[];
}

export interface RecordedSegment {
  name: string;
  seconds: number;
}

/** The file that begins a part. */
export const initName = (part: number): string => `init-${part}.mp4`;
/** Segments are counted through all parts. */
export const segmentName = (number: number): string => `segment-${String(number).padStart(5, '0')}.m4s`;

/** Segments are cut every 2 seconds, at the next picture. */
export const SEGMENT_SECONDS = 2;
const TARGET_SECONDS = SEGMENT_SECONDS + 1;
const SEGMENT = /^#EXTINF:([\d.]+),[^\n]*\n([^#\s]+)$/gm;

/** The playlist of a recording (RFC 8216): only what is appended to changes it, until it ends. */
export function recordedPlaylist(parts: readonly RecordedPart[], isEnded: boolean): string {
  const longest = Math.max(0, ...parts.flatMap(({ segments }) => segments.map(({ seconds }) => seconds)));
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    `#EXT-X-TARGETDURATION:${Math.max(TARGET_SECONDS, Math.round(longest))}`,
    '#EXT-X-MEDIA-SEQUENCE:0',
    '#EXT-X-PLAYLIST-TYPE:EVENT',
    '#EXT-X-INDEPENDENT-SEGMENTS',
  ];
  let isFirst = true;
  for (const [number, { segments }] of parts.entries()) {
    if (segments.length === 0) continue;
    if (!isFirst) lines.push('#EXT-X-DISCONTINUITY');
    isFirst = false;
    lines.push(`#EXT-X-MAP:URI="${initName(number)}"`);
    for (const { name, seconds } of segments) lines.push(`#EXTINF:${seconds.toFixed(6)},`, name);
  }
  if (isEnded) lines.push('#EXT-X-ENDLIST');
  return `${lines.join('\n')}\n`;
}

/** The segments that a playlist names, in their order. */
export const segmentsOf = (playlist: string): RecordedSegment[] =>
  [...playlist.matchAll(SEGMENT)].map(([, seconds = '', name = '']) => ({ name, seconds: Number(seconds) }));

export const secondsOf = (parts: readonly RecordedPart[]): number =>
  parts.reduce((sum, { segments }) => segments.reduce((before, { seconds }) => before + seconds, sum), 0);
