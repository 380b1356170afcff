import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { WebSocket } from 'ws';
import type { BrowserEnd, SessionBrowser } from '../../activities/browser-host/chromium/browser.ts';
import { type HostServerParts, startHostServer } from '../../activities/browser-host/host-server.ts';
import { apiConfig } from '../../api/config.ts';
import { createTokenRing } from '../../domain/kernel/encryption/token-ring.ts';
import {
  admittedTo,
  createHostTokens,
  type HostTokens,
} from '../../domain/review/browser-sessions/hosts/host-tokens.ts';
import { newId } from '../../domain/kernel/shared/ids.ts';
import { loadKeys } from '../../domain/kernel/encryption/keys.ts';
import type { TestApp } from './app.ts';
import { addHost, type SessionStage } from './browser-sessions.ts';

/** The tokens that the API of a test signs for hosts. */
export function hostTokensOf({ env }: Pick<TestApp, 'env'>): HostTokens {
  const config = apiConfig(env);
  return createHostTokens(createTokenRing(loadKeys(config).tokenKeys), config.publicUrl);
}

export interface SessionHost {
  id: string;
  address: string;
  /** A session of a new pull request, live on this host. */
  allocate(
    stage: SessionStage,
    browser?: Partial<SessionBrowser>,
  ): Promise<{ id: string; end: (end: BrowserEnd) => void }>;
  close(): Promise<void>;
}

type Handlers = Partial<Pick<HostServerParts, 'onLive' | 'onPictures' | 'onConnect'>>;

/** A host that serves sockets, without any browser unless a test has one. */
export async function sessionHost(app: TestApp, handlers: Handlers): Promise<SessionHost> {
  const id = newId();
  const allocated = new Map<string, SessionBrowser>();
  const server = await startHostServer({
    allocated: { find: (sessionId) => allocated.get(sessionId) },
    admit: admittedTo(id, hostTokensOf(app)),
    listen: { host: '127.0.0.1', port: 0 },
    onLive: (socket) => socket.close(),
    onPictures: (response) => response.end(),
    onConnect: (socket) => socket.close(),
    ...handlers,
    log: pino({ level: 'silent' }),
  });
  await addHost(app, { id, queue: `host-${id}` });
  await app.sql('update browser_host set address = ? where id = ?', [server.address, id]);
  return {
    id,
    address: server.address,
    async allocate(stage, browser = {}) {
      const session = await stage.record(await stage.pullRequest());
      await app.sql(`update browser_session set status = 'live', live_at = now(), host_id = ? where id = ?`, [
        id,
        session.id,
      ]);
      const { promise: ending, resolve: end } = Promise.withResolvers<BrowserEnd>();
      const owner = { sessionId: session.id, tenantId: app.tenant.id, projectId: newId() };
      allocated.set(session.id, { owner, ending, ...browser } as SessionBrowser);
      return {
        id: session.id,
        end: (how) => {
          allocated.delete(session.id);
          end(how);
        },
      };
    },
    close: () => server.close(),
  };
}

/** Opens a WebSocket at the API of a test. Rejects with the status of a refusal and its body. */
export async function openSocket(
  { url }: Pick<TestApp, 'url'>,
  path: string,
  headers: Record<string, string> = {},
): Promise<WebSocket> {
  const socket = new WebSocket(url.replace('http', 'ws') + path, { headers, perMessageDeflate: false });
  const { promise, resolve, reject } = Promise.withResolvers<WebSocket>();
  socket.once('open', () => resolve(socket));
  socket.once('unexpected-response', (_, answer: IncomingMessage) => {
    text(answer).then((body) => reject(new Error(`${answer.statusCode} ${body}`)), reject);
  });
  return promise;
}
