import { z } from 'zod';
import { grantConnection } from '../../../domain/review/browser-sessions/connections.mutations.ts';
import { DIALOG_ANSWER_SECONDS } from '../../../domain/review/browser-sessions/live/dialog-rules.ts';
import { HOST_TOKEN_SECONDS } from '../../../domain/review/browser-sessions/hosts/host-tokens.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId, Timestamp } from '../../http/parameters.ts';
import { CONNECT_SOCKET_PATH } from './session-sockets.ts';

const Connection = z
  .object({
    url: z.url({ protocol: /^wss?$/ }).meta({
      description: 'For one connection: a WebSocket of the Chrome DevTools Protocol. Treat it as a password',
    }),
    expiresAt: Timestamp.meta({ description: 'By when to connect; the connection lasts as long as the session' }),
  })
  .meta({ id: 'BrowserConnection' });

/** The address of a socket of this service. @param publicUrl begins with `http`. */
const socketUrl = (publicUrl: string, path: string, token: string): string =>
  `${publicUrl.replace(/^http/, 'ws')}${path}?token=${token}`;

export const browserConnectionsRoutes = [
  defineRoute({
    operationId: 'connectToBrowserSession',
    method: 'post',
    path: '/api/browser-sessions/{id}/connect',
    group: 'Browser sessions',
    summary: 'Connect automation to the browser of a live session',
    description: [
      `The address is for one connection within ${HOST_TOKEN_SECONDS} seconds: \`chromium.connectOverCDP(url)\` of playwright takes it. Each client has its own view of the browser, does not see what others attached, and leaves the browser running when it disconnects. The session's own context is \`browser.contexts()[0]\`.`,
      'Pages can be driven and read: `Page`, `Runtime`, `DOM`, `Input`, `Accessibility`, `Emulation`, most of `Network`, and tabs by `Target` (10 at most). Refused are closing the browser, contexts of its own (`browser.newContext()`), files and uploads, addresses that are not http, https or about:blank, keeping requests back (`page.route`), tracing and the screencast, and cookies, read or written: those of the org are its sign-in, and are left out of what `Network` tells, too. Downloads are answered as if they were allowed; there are none.',
      `By \`alert\`, \`confirm\`, \`prompt\` and when it is about to be left, a page asks every client that has enabled \`Page\` for it (\`Page.javascriptDialogOpening\`; \`page.on('dialog')\` of playwright, which dismisses what nobody listens to), and who controls the live view: the first answer counts. With nobody there, or without an answer for ${DIALOG_ANSWER_SECONDS} seconds, the dialog is dismissed, and the page left.`,
      'A session that is not live: 409; one of another provider: 400; its host does not answer: 503. Members connect to the sessions that they created; owners and applications to any.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 200,
    response: Connection,
    givesCredential: true,
    errors: ['invalid_transition'],
    audit: 'browser_session.connect_created',
    async handle({ params: { id } }, { tx, adapters, publicUrl, now }) {
      const grant = await tx((work) => grantConnection(work, id));
      const issuedAt = now();
      const token = await adapters.browsers.hostTokens.sign(grant, issuedAt);
      const path = CONNECT_SOCKET_PATH.replace('{id}', id);
      const expiresAt = new Date(issuedAt.getTime() + HOST_TOKEN_SECONDS * 1_000).toISOString();
      return { url: socketUrl(publicUrl, path, token), expiresAt };
    },
  }),
];
