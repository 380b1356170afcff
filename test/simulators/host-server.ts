import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from '../support/client.ts';

export interface HostRequest {
  method: string;
  /** With the query. */
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Json;
  /** Whom the credential belongs to. */
  caller: string;
}

export interface Reply {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

/** `hang` never answers, `html` answers with a page, `lost` does what is asked and breaks the connection before the reply. */
export type Fault = Reply | 'hang' | 'html' | 'lost';

export interface Endpoint {
  method: string;
  /** Matched against the path without its query. */
  path: RegExp;
  /** Undefined: another endpoint answers. */
  handle: (request: HostRequest, match: RegExpExecArray) => Reply | undefined;
}

/** How many more requests the vendor answers, and until when. */
export interface Limit {
  remaining: number;
  resetAt: Date;
}

export interface HostRules {
  endpoints: readonly Endpoint[];
  /** Whom a credential belongs to; undefined: it is refused. */
  callerOf: (headers: IncomingHttpHeaders) => string | undefined;
  unauthenticated: () => Reply;
  notFound: () => Reply;
  /** What the vendor adds to replies of a limit, and what it answers where none remains. */
  limitHeaders: (limit: Limit) => Record<string, string>;
  limited: (limit: Limit) => Reply;
}

export interface HostServer {
  url: string;
  requests: HostRequest[];
  /** What happens to the next requests of this method of which `path` is a part; by default to the next one. */
  failNext: (fault: Fault, of?: { method?: string; path?: RegExp; times?: number }) => void;
  /** Takes back what was to happen. */
  heal: () => void;
  /** Undefined: none. */
  limit: Limit | undefined;
  close: () => Promise<void>;
}

const PAGE = '<!DOCTYPE html><html><body>We are down for maintenance.</body></html>';

/** A server on loopback that answers as a vendor's interface does. @param rulesAt given the address of the server. */
export async function hostServer(rulesAt: (url: string) => HostRules): Promise<HostServer> {
  const faults: { fault: Fault; method: string | undefined; path: RegExp; times: number }[] = [];
  const takeFault = (method: string, path: string): Fault | undefined => {
    const rule = faults.find((each) => (each.method ?? method) === method && each.path.test(path));
    if (rule && --rule.times <= 0) faults.splice(faults.indexOf(rule), 1);
    return rule?.fault;
  };
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const { pathname, searchParams: query } = new URL(incoming.url ?? '/', host.url);
      const caller = rules.callerOf(incoming.headers);
      const request: HostRequest = {
        method: incoming.method ?? '',
        path: incoming.url ?? '',
        query,
        headers: incoming.headers,
        body: text === '' ? {} : JSON.parse(text),
        caller: caller ?? '',
      };
      host.requests.push(request);
      const fault = takeFault(request.method, request.path);
      if (fault === 'hang') return;
      if (fault === 'html') {
        response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
        return;
      }
      const given = typeof fault === 'object' ? fault : undefined;
      const reply = given ?? (caller === undefined ? rules.unauthenticated() : answer(request, pathname));
      if (fault === 'lost') {
        response.socket?.destroy();
        return;
      }
      response.writeHead(reply.status, {
        'content-type': 'application/json',
        ...(host.limit && rules.limitHeaders(host.limit)),
        ...reply.headers,
      });
      const { body } = reply;
      response.end(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  const answer = (request: HostRequest, pathname: string): Reply => {
    const { limit } = host;
    if (limit && limit.resetAt.getTime() <= Date.now()) host.limit = undefined;
    else if (limit && limit.remaining <= 0) return rules.limited(limit);
    else if (limit) limit.remaining--;
    for (const { method, path, handle } of rules.endpoints) {
      const match = method === request.method ? path.exec(pathname) : null;
      const reply = match && handle(request, match);
      if (reply) return reply;
    }
    return rules.notFound();
  };
  const host: HostServer = {
    url: '',
    requests: [],
    limit: undefined,
    failNext: (fault, { method, path = /^/, times = 1 } = {}) => void faults.push({ fault, method, path, times }),
    heal: () => void (faults.length = 0),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  host.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const rules = rulesAt(host.url);
  return host;
}
