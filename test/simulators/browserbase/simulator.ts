import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocketServer } from 'ws';

/** A session as the interface shows it, with what tests look at. */
export interface SimulatedSession {
  id: string;
  status: 'PENDING' | 'RUNNING' | 'ERROR' | 'TIMED_OUT' | 'COMPLETED';
  createdAt: string;
  updatedAt: string;
  startedAt: string;
  endedAt?: string;
  expiresAt: string;
  keepAlive: boolean;
  projectId: string;
  proxyBytes: number;
  region: 'eu-central-1';
  userMetadata: Record<string, unknown>;
  /** What it was created with. */
  order: Record<string, unknown>;
  /** Addresses that its browser was sent to. */
  visited: string[];
  /** What its only tab shows, with what it showed before; the latest last. */
  history: string[];
}

/**
 * How a request is answered otherwise than by the interface.
 * - `limited`: 429 with `retry-after`
 * - `status`: with that status
 * - `moved`: by a redirect
 * - `html`: a page instead of JSON
 * - `slow`: after `ms`
 * - `lost`: executed, but the connection breaks before the answer
 * - `hang`: never
 */
export type Behavior =
  | { kind: 'limited'; retryAfter?: number }
  | { kind: 'status'; status: number }
  | { kind: 'moved'; to: string }
  | { kind: 'html' }
  | { kind: 'slow'; ms: number }
  | { kind: 'lost' }
  | { kind: 'hang' };

/** A file of the second port, which stands for the provider's network of distribution. */
export type CdnFile = (request: IncomingMessage, response: ServerResponse) => void;

export interface BrowserbaseSimulator {
  /** What an integration of kind `browser` has as its `baseUrl`. */
  url: string;
  /** Where playlists say that their segments are. */
  cdnUrl: string;
  /** The only one that is taken. */
  apiKey: string;
  sessions: SimulatedSession[];
  /** `METHOD path` of each request that was let in, the oldest first. */
  requests: string[];
  /** Answers the next requests so, one each. */
  next: (...behaviors: Behavior[]) => void;
  /** Answers requests of a method and path so until `reset`. @param route such as `POST /v1/sessions/`, a beginning. */
  always: (route: string, behavior: Behavior) => void;
  /** Answers a path of the second port so. */
  serve: (path: string, file: CdnFile) => void;
  /** The playlist of pages to come; `{cdn}` stands for the second port. */
  playlist: string;
  /** Path to which a page that browsers are sent to leads on, once it has loaded; undefined: it stays. */
  leadsOnTo: string | undefined;
  /** A session ends by itself. */
  end: (id: string, status: 'ERROR' | 'TIMED_OUT' | 'COMPLETED') => void;
  /** The provider knows a session no more. */
  lose: (id: string) => void;
  reset: () => void;
  close: () => Promise<void>;
}

const RUNNING = new Set(['PENDING', 'RUNNING']);
const QUERY = /^user_metadata\['([^']+)'\]:'([^']*)'$/;

/** Browserbase by its published REST interface, version 1. Its browsers load nothing: they note where they are sent, and are led. */
export async function browserbaseSimulator(port = 0): Promise<BrowserbaseSimulator> {
  const apiKey = 'bb_simulated_key';
  const sessions: SimulatedSession[] = [];
  const requests: string[] = [];
  const files = new Map<string, CdnFile>();
  let plans: Behavior[] = [];
  let standing: { route: string; behavior: Behavior }[] = [];

  const api = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const cdn = createServer((request, response) => {
    const file = files.get(request.url?.split('?')[0] ?? '');
    if (file) file(request, response);
    else segment(request, response);
  });
  const browsers = new WebSocketServer({ noServer: true });
  api.on('upgrade', (request, socket, head) => {
    const session = sessions.find(({ id }) => request.url === `/connect/${id}?signingKey=${signingKeyOf(id)}`);
    if (session?.status !== 'RUNNING') return socket.destroy();
    browsers.handleUpgrade(request, socket, head, (client) => {
      client.on('message', (data: Buffer) => {
        const { id, method, params } = JSON.parse(data.toString('utf8')) as {
          id: number;
          method: string;
          params: Record<string, string>;
        };
        const event = (name: string, body: object) =>
          client.send(JSON.stringify({ method: name, params: body, sessionId: 'cdp-0' }));
        const show = (url: string) => {
          session.history.push(url);
          event('Page.frameNavigated', { frame: { id: 'frame-0', url } });
        };
        const url = params.url ?? '';
        const isGoing = method === 'Page.navigate' && !isBarred(session, url);
        if (isGoing) {
          session.visited.push(url);
          show(url);
        }
        if (method === 'Page.resetNavigationHistory') session.history.splice(0, session.history.length - 1);
        const isRefused = method === 'Page.navigate' && !isGoing;
        const result = isRefused ? { errorText: 'net::ERR_BLOCKED_BY_CLIENT' } : (RESULTS[method] ?? {});
        client.send(JSON.stringify({ id, result }));
        if (!isGoing) return;
        event('Page.loadEventFired', {});
        if (simulator.leadsOnTo === undefined || !url.includes('frontdoor')) return;
        show(new URL(simulator.leadsOnTo, url).href);
        event('Page.loadEventFired', {});
      });
    });
  });

  const simulator: BrowserbaseSimulator = {
    url: await listening(api, port),
    cdnUrl: await listening(cdn, 0),
    apiKey,
    sessions,
    requests,
    playlist: PLAYLIST,
    leadsOnTo: '/home',
    next: (...behaviors) => plans.push(...behaviors),
    always: (route, behavior) => standing.push({ route, behavior }),
    serve: (path, file) => files.set(path, file),
    end(id, status) {
      const session = sessions.find((each) => each.id === id);
      if (session) Object.assign(session, { status, endedAt: new Date().toISOString() });
    },
    lose(id) {
      sessions.splice(
        sessions.findIndex((each) => each.id === id),
        1,
      );
    },
    reset() {
      sessions.length = 0;
      requests.length = 0;
      plans = [];
      standing = [];
      files.clear();
      simulator.playlist = PLAYLIST;
      simulator.leadsOnTo = '/home';
    },
    async close() {
      for (const client of browsers.clients) client.terminate();
      for (const server of [api, cdn]) {
        server.closeAllConnections();
        await new Promise((closed) => server.close(closed));
      }
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const json = (status: number, body: unknown, headers = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    };
    const refuse = (status: number, message: string, headers = {}) =>
      json(status, { statusCode: status, error: 'Error', message }, headers);
    if (request.headers['x-bb-api-key'] !== apiKey) return refuse(401, 'Unauthorized');
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const route = `${request.method} ${pathname}`;
    requests.push(route);
    const behavior = plans.shift() ?? standing.find((each) => route.startsWith(each.route))?.behavior;
    switch (behavior?.kind) {
      case 'limited':
        return refuse(429, 'Too many requests', { 'retry-after': String(behavior.retryAfter ?? 1) });
      case 'status':
        return refuse(behavior.status, `Simulated ${behavior.status} for ${apiKey}`);
      case 'moved':
        response.writeHead(307, { location: behavior.to }).end();
        return;
      case 'html':
        response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Maintenance</h1>');
        return;
      case 'hang':
        await once(response, 'close');
        return;
      case 'slow':
        await sleep(behavior.ms);
        break;
      case 'lost':
        carryOut(route, searchParams, chunks, {
          json: () => undefined,
          refuse: () => undefined,
          text: () => undefined,
        });
        response.destroy();
        return;
      case undefined:
    }
    carryOut(route, searchParams, chunks, {
      json,
      refuse,
      text: (type, text) => response.writeHead(200, { 'content-type': type }).end(text),
    });
  }

  interface Replies {
    json: (status: number, body: unknown) => void;
    refuse: (status: number, message: string) => void;
    text: (contentType: string, text: string) => void;
  }

  function carryOut(route: string, query: URLSearchParams, chunks: Buffer[], { json, refuse, text }: Replies): void {
    const body = () => JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}') as Record<string, unknown>;
    if (route === 'POST /v1/sessions') {
      const session = created(body());
      if (typeof session === 'string') return refuse(400, session);
      sessions.push(session);
      // A session is created before it runs.
      return json(201, { ...shown(session), status: 'PENDING' });
    }
    if (route === 'GET /v1/sessions') {
      const [, name = '', value = ''] = QUERY.exec(query.get('q') ?? '') ?? [];
      const status = query.get('status');
      const found = sessions.filter(
        (each) => (name === '' || each.userMetadata[name] === value) && (status === null || each.status === status),
      );
      return json(200, found.map(shown));
    }
    const [, method, id, rest = ''] = /^(GET|POST) \/v1\/sessions\/([\w-]+)(\/.*)?$/.exec(route) ?? [];
    const session = sessions.find((each) => each.id === id);
    if (!session) return refuse(404, 'Session not found');
    if (rest === '' && method === 'GET') return json(200, connectable(session));
    if (rest === '' && method === 'POST') {
      if (body().status !== 'REQUEST_RELEASE') return refuse(400, 'status must be REQUEST_RELEASE');
      if (RUNNING.has(session.status)) simulator.end(session.id, 'COMPLETED');
      return json(200, shown(session));
    }
    if (method !== 'GET') return refuse(404, 'Not found');
    if (rest === '/debug') {
      const view = `${simulator.url}/devtools-fullscreen/inspector.html?session=${session.id}`;
      return json(200, { debuggerFullscreenUrl: view, debuggerUrl: view, wsUrl: connectUrlOf(session), pages: [] });
    }
    if (rest === '/replays') {
      const startTimeMs = Date.parse(session.createdAt);
      const endTimeMs = Date.parse(session.endedAt ?? session.updatedAt);
      const page = { pageId: '0', startTimeMs, endTimeMs, url: `${simulator.url}/v1/sessions/${session.id}/replays/0` };
      return json(200, { pageCount: 1, pages: [page] });
    }
    if (rest === '/replays/0')
      return text('application/vnd.apple.mpegurl', simulator.playlist.replaceAll('{cdn}', simulator.cdnUrl));
    refuse(404, 'Not found');
  }

  function created(order: Record<string, unknown>): SimulatedSession | string {
    const timeout = Number(order.timeout ?? 300);
    if (!Number.isInteger(timeout) || timeout < 60 || timeout > 21_600) return 'timeout must be between 60 and 21600';
    const now = Date.now();
    return {
      id: randomUUID(),
      status: 'RUNNING',
      createdAt: new Date(now).toISOString(),
      updatedAt: new Date(now).toISOString(),
      startedAt: new Date(now).toISOString(),
      expiresAt: new Date(now + timeout * 1_000).toISOString(),
      keepAlive: order.keepAlive === true,
      projectId: typeof order.projectId === 'string' ? order.projectId : 'simulated-project',
      proxyBytes: 0,
      region: 'eu-central-1',
      userMetadata: (order.userMetadata ?? {}) as Record<string, unknown>,
      order,
      visited: [],
      history: ['about:blank'],
    };
  }

  const shown = ({ order: _, visited: __, history: ___, ...session }: SimulatedSession) => session;
  const signingKeyOf = (id: string) => `sk-${id}`;
  const connectUrlOf = ({ id }: SimulatedSession) =>
    `${simulator.url.replace('http', 'ws')}/connect/${id}?signingKey=${signingKeyOf(id)}`;
  const connectable = (session: SimulatedSession) => ({
    ...shown(session),
    ...(session.status === 'RUNNING' && { connectUrl: connectUrlOf(session), signingKey: signingKeyOf(session.id) }),
  });
  return simulator;
}

const RESULTS: Record<string, object> = {
  'Target.getTargets': { targetInfos: [{ type: 'page', targetId: 'page-0', url: 'about:blank' }] },
  'Target.attachToTarget': { sessionId: 'cdp-0' },
  'Page.navigate': { frameId: 'frame-0' },
};

/** Whether a session that was created with `allowedDomains` may not go there; a domain stands for all below it, too. */
function isBarred({ order }: SimulatedSession, url: string): boolean {
  const { allowedDomains = [] } = (order.browserSettings ?? {}) as { allowedDomains?: string[] };
  const { protocol, hostname } = new URL(url);
  if (allowedDomains.length === 0 || !protocol.startsWith('http')) return false;
  return !allowedDomains.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`));
}

const PLAYLIST = `#EXTM3U
#EXT-X-VERSION:7
#EXT-X-TARGETDURATION:4
#EXT-X-PLAYLIST-TYPE:VOD
#EXT-X-MAP:URI="{cdn}/init.mp4?Signature=abc"
#EXTINF:4.0,
{cdn}/segment-0.m4s?Signature=abc
#EXTINF:2.5,
{cdn}/segment-1.m4s?Signature=abc
#EXT-X-ENDLIST
`;

/** Bytes that differ by path. Ranges as RFC 9110 has them, of one part. */
function segment({ url = '/', headers }: IncomingMessage, response: ServerResponse): void {
  const content = Buffer.from(`${url.split('?')[0]} `.repeat(100));
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? [];
  const type = { 'content-type': 'video/mp4', 'accept-ranges': 'bytes' };
  if (first === undefined) {
    response.writeHead(200, { ...type, 'content-length': content.length }).end(content);
    return;
  }
  const end = last === '' ? content.length - 1 : Math.min(Number(last), content.length - 1);
  if (Number(first) > end) {
    response.writeHead(416, { 'content-range': `bytes */${content.length}` }).end();
    return;
  }
  const part = content.subarray(Number(first), end + 1);
  response.writeHead(206, {
    ...type,
    'content-length': part.length,
    'content-range': `bytes ${first}-${end}/${content.length}`,
  });
  response.end(part);
}

async function listening(server: Server, port: number): Promise<string> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
