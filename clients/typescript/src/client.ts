import { type Client, createClient as createGenerated, createConfig } from './generated/client/index.ts';
import { UNKEYED } from './generated/operations.ts';
import { problemOf } from './problems.ts';
import { transport, type TransportParts } from './transport.ts';

type Token = string | undefined;

export interface QuaysideOptions {
  /** Address of the service with its base path: `https://quayside.example.com`. Absent: that of the page. */
  url?: string;
  /** Access or application token, or what gives one before each request. Absent: the page's session cookie. */
  token?: string | (() => Token | Promise<Token>);
  /** Slug of the tenant, for credentials that reach several. */
  tenant?: string;
  /** Further headers of every request. */
  headers?: Record<string, string>;
  /** Ends all requests. */
  signal?: AbortSignal;
  /** Instead of the platform's. */
  fetch?: typeof globalThis.fetch;
  /** For tests: clock, waiting and chance. */
  parts?: Omit<Partial<TransportParts>, 'fetch'>;
}

/**
 * A client for the operations of this package: `await listProjects({ client })`. Their results are `{ data }` or
 * `{ error }`, whose `code` says what went wrong and whose `errors` point into the request; nothing is thrown. POSTs
 * with a credential have an `Idempotency-Key`, so that a repeated one is done once.
 */
export function createClient({ url, token, tenant, headers, signal, fetch, parts }: QuaysideOptions = {}): Client {
  const send = transport({ ...parts, ...(fetch && { fetch }) });
  const client = createGenerated(
    createConfig({
      baseUrl: url ?? '',
      // Both schemes of a credential are asked for; a browser sends its cookie itself.
      auth: (scheme) => (scheme.scheme === 'bearer' ? (typeof token === 'function' ? token() : token) : undefined),
      headers: { 'Content-Type': 'application/json', ...(tenant && { 'X-Quayside-Tenant': tenant }), ...headers },
      redirect: 'manual',
      fetch: send as typeof globalThis.fetch,
      ...(signal && { signal }),
    }),
  );
  client.interceptors.request.use((request, options) => {
    if (request.method !== 'POST') return request;
    // What takes no key is done again by sending it again: the transport goes by the header.
    if (isUnkeyed(options.url)) request.headers.delete(KEY);
    else if (options.security !== undefined && !request.headers.has(KEY)) request.headers.set(KEY, randomKey());
    return request;
  });
  client.interceptors.error.use((error, response, request) => problemOf(error, request, response));
  return client;
}

const KEY = 'Idempotency-Key';

/** @param url the template of a path, or a path that somebody wrote, which may have a query. */
function isUnkeyed(url: string): boolean {
  const segments = pathSegments(url);
  return UNKEYED.some((template) => {
    const wanted = pathSegments(template);
    return (
      wanted.length === segments.length && wanted.every((name, at) => name.startsWith('{') || name === segments[at])
    );
  });
}

const pathSegments = (url: string): string[] => url.replace(/[?#].*$/, '').split('/');

/** 128 random bits; `randomUUID` needs a page of a secure origin. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
