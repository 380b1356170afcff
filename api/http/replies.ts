import { Readable } from 'node:stream';
import { notFound } from '../../domain/kernel/shared/errors.ts';

export interface ReplyParts<Body> {
  body: Body;
  status?: number;
  headers?: Record<string, string>;
  /** `Set-Cookie` values. */
  cookies?: readonly string[];
}

/** The result of a handler that needs another status, headers or cookies. */
export class Reply<Body> {
  readonly parts: ReplyParts<Body>;

  constructor(parts: ReplyParts<Body>) {
    this.parts = parts;
  }
}

export const reply = <Body>(body: Body, parts: Omit<ReplyParts<Body>, 'body'> = {}): Reply<Body> =>
  new Reply({ body, ...parts });

/** A reply that is not JSON and is sent unchanged. */
export class RawReply {
  readonly contentType: string;
  readonly body: string | Buffer | Readable;
  readonly headers: Record<string, string>;

  constructor(contentType: string, body: string | Buffer | Readable, headers: Record<string, string> = {}) {
    this.contentType = contentType;
    this.body = body;
    this.headers = headers;
  }
}

/** A JSON reply that is already text and is not parsed by the response schema. */
export class JsonText {
  readonly text: string | Buffer;
  /** The same text, or buffer, is likely to be the reply to further requests. */
  readonly isRepeated: boolean;

  constructor(text: string | Buffer, { isRepeated = false } = {}) {
    this.text = text;
    this.isRepeated = isRepeated;
  }
}

/** The JSON of an object with one more member, which is JSON already. The object has others. */
export const withMember = (members: object, name: string, json: string): string =>
  `${JSON.stringify(members).slice(0, -1)},${JSON.stringify(name)}:${json}}`;

/** A file of the object store as a download. Throws `not_found` if there is none. */
export function fileReply(
  contentType: string,
  content: AsyncIterable<Uint8Array> | undefined,
  fileName: string,
): RawReply {
  if (!content) throw notFound('The file');
  return new RawReply(contentType, Readable.from(content, { objectMode: false }), {
    'Content-Disposition': `attachment; filename="${fileName}"`,
    'Cache-Control': 'private, no-store',
  });
}

/** A reply as it is sent. A JSON body is text, so that a stored reply is repeated byte by byte. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  cookies?: readonly string[];
  body: unknown;
  /** See `JsonText`. */
  isRepeated?: boolean;
}

export interface Page {
  limit: number;
  offset: number;
  total: number;
}

/** A list that is paged by page number, starting at 1. */
interface NumberedPage {
  limit: number;
  page: number;
  total: number;
}

/** A page of a list, with `Link` headers (RFC 8288) to the next and previous page. */
export function pageReply<Body>(requestUrl: string, page: Page | NumberedPage, body: Body): Reply<Body> {
  const links = 'page' in page ? numberedLinks(requestUrl, page) : offsetLinks(requestUrl, page);
  return reply(body, links.length > 0 ? { headers: { Link: links.join(', ') } } : {});
}

const numberedLinks = (requestUrl: string, { limit, page, total }: NumberedPage): string[] => [
  ...(page * limit < total ? [link(requestUrl, { page: page + 1 }, 'next')] : []),
  ...(page > 1 ? [link(requestUrl, { page: page - 1 }, 'prev')] : []),
];

function offsetLinks(requestUrl: string, { limit, offset, total }: Page): string[] {
  return [
    ...(offset + limit < total ? [link(requestUrl, { offset: offset + limit }, 'next')] : []),
    ...(offset > 0 ? [link(requestUrl, { offset: Math.max(0, offset - limit) }, 'prev')] : []),
  ];
}

/** One link of a `Link` header: the URL of the request with some query parameters replaced. */
export function link(requestUrl: string, change: Record<string, string | number>, rel: string): string {
  const url = new URL(requestUrl, 'http://localhost');
  for (const [name, value] of Object.entries(change)) url.searchParams.set(name, String(value));
  return `<${url.pathname}${url.search}>; rel="${rel}"`;
}
