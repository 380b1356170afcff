import { DomainError } from '../../../kernel/shared/errors.ts';

/** Tags whose attributes hold addresses, with the names of these attributes (RFC 8216bis, 4.4). */
const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  'EXT-X-KEY': ['URI'],
  'EXT-X-SESSION-KEY': ['URI'],
  'EXT-X-MAP': ['URI'],
  'EXT-X-MEDIA': ['URI'],
  'EXT-X-PART': ['URI'],
  'EXT-X-PRELOAD-HINT': ['URI'],
  'EXT-X-I-FRAME-STREAM-INF': ['URI'],
  'EXT-X-SESSION-DATA': ['URI'],
  'EXT-X-RENDITION-REPORT': ['URI'],
  'EXT-X-CONTENT-STEERING': ['SERVER-URI'],
};
/** Attributes of this tag are the author's own: any of them may be an address. */
const DATE_RANGE = 'EXT-X-DATERANGE';
const TAG = /^#(EXT-X-[A-Z-]+):(.*)$/;
/** Tried where a name begins alone: within one, each of its characters would be tried, and that is quadratic. */
const QUOTED_ATTRIBUTE = /(?<![A-Z0-9-])([A-Z0-9-]+)="([^"]*)"/g;
/** An hour in segments of a second has 3,600. */
const ADDRESSES_MAX = 5_000;
const ADDRESS_MAX_CHARACTERS = 8_192;
/** The first line may begin with a byte order mark. */
const COMMENT_OR_TAG = /^(\xef\xbb\xbf)?#/;
const NOT_ASCII = /[\x80-\xff]/;
/** Stands where an address did: no byte of a playlist becomes this character. */
const PLACE = '\u0100';
const ABSOLUTE = /^[a-z][a-z0-9+.-]*:\/\//i;

/** Whether a body is a playlist of HTTP Live Streaming: its first line says so (RFC 8216, 4.3.1.1). */
export const isPlaylist = (body: Buffer): boolean => /^(\xef\xbb\xbf)?#EXTM3U/.test(body.toString('latin1', 0, 10));

/**
 * A playlist (RFC 8216 and its successor's draft) in which each address is replaced; all other bytes stay as they are.
 * Addresses that hold their content (`data:`) and those that do not parse stay too.
 * @param base the address that the playlist was read from, after redirects; relative ones are resolved against it.
 * Throws `upstream_error` for one of more than 5,000 addresses, and for an address of more than 8,192 characters.
 * @param replacedBy what stands for these absolute addresses, in their order. It must not hold quotes, line ends or `{$`.
 */
export function rewritePlaylist(
  playlist: Buffer,
  base: string,
  replacedBy: (addresses: readonly string[]) => readonly string[],
): Buffer {
  // One character per byte, so that bytes that are not UTF-8 come out as they went in.
  const lines = playlist.toString('latin1').split('\n');
  const variables = new Map<string, string>();
  const addresses: string[] = [];
  let written = 0;
  const rewritten = (text: string): string => {
    if (++written > ADDRESSES_MAX) throw tooLarge(`more than ${ADDRESSES_MAX} addresses`);
    const address = NOT_ASCII.test(text) ? Buffer.from(text, 'latin1').toString() : text;
    const url = URL.parse(filledIn(address, variables), base);
    if (!url || url.protocol === 'data:') return text;
    addresses.push(url.href);
    return PLACE;
  };
  const rewriteLine = (line: string): string => {
    const text = withoutTrailingBlanks(line);
    const end = line.slice(text.length);
    if (text === '') return line;
    if (!COMMENT_OR_TAG.test(text)) return `${rewritten(text)}${end}`;
    const [, tag = '', attributes = ''] = TAG.exec(text) ?? [];
    if (tag === 'EXT-X-DEFINE') define(variables, attributes);
    if (tag !== DATE_RANGE && !ADDRESSES[tag]) return line;
    const rewrittenAttributes = attributes.replaceAll(QUOTED_ATTRIBUTE, (whole, name: string, value: string) => {
      const isAddress = tag === DATE_RANGE ? ABSOLUTE.test(value) : ADDRESSES[tag]?.includes(name);
      return isAddress ? `${name}="${rewritten(value)}"` : whole;
    });
    return `#${tag}:${rewrittenAttributes}${end}`;
  };
  const [first = '', ...others] = lines.map(rewriteLine).join('\n').split(PLACE);
  const replaced = replacedBy(addresses);
  return Buffer.from(first + others.map((text, place) => `${replaced[place]}${text}`).join(''), 'latin1');
}

/** An address with its variables filled in, however often their values stand in it. */
function filledIn(text: string, variables: ReadonlyMap<string, string>): string {
  let length = text.length;
  const checked = (value: string): string => {
    length += value.length;
    if (length > ADDRESS_MAX_CHARACTERS) throw tooLarge(`an address of more than ${ADDRESS_MAX_CHARACTERS} characters`);
    return value;
  };
  checked('');
  return text.replaceAll(/\{\$([\w-]+)\}/g, (whole, name: string) => checked(variables.get(name) ?? whole));
}

const tooLarge = (what: string) => new DomainError('upstream_error', `The playlist of the recording has ${what}`);

/** Notes a variable that addresses after it may hold (`EXT-X-DEFINE`): a reader cannot fill it into a replaced address. */
function define(variables: Map<string, string>, attributes: string): void {
  const named = Object.fromEntries([...attributes.matchAll(QUOTED_ATTRIBUTE)].map(([, name, value]) => [name, value]));
  const { NAME: name, VALUE: value } = named;
  if (name !== undefined && value !== undefined) variables.set(name, Buffer.from(value, 'latin1').toString());
}

/** The playlist of a recording that does not grow any more: players stop at its end also where its writer died before it. */
export function completed(playlist: Buffer): Buffer {
  const text = playlist.toString('latin1');
  return text.includes('#EXT-X-ENDLIST')
    ? playlist
    : Buffer.from(`${text.replace(/\n?$/, '\n')}#EXT-X-ENDLIST\n`, 'latin1');
}

/** `trimEnd` would take the last byte of letters such as à, too. */
function withoutTrailingBlanks(line: string): string {
  let end = line.length;
  while (end > 0 && ' \t\r'.includes(line.charAt(end - 1))) end--;
  return line.slice(0, end);
}
