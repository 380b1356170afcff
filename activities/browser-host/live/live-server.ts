import type { ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import type { SessionOwner } from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import type { LiveViewer } from '../../../domain/review/browser-sessions/live/live-viewer-rules.ts';
import type { SessionBrowser, SessionBrowsers } from '../chromium/browser.ts';
import { viewerMessage } from './live-protocol.ts';
import { LiveRoom, type Member, type ViewerConnection } from './live-room.ts';
import { PictureWindow } from './picture-window.ts';

const VIEWERS_MAX = 50;
/** An `<img>` draws each of them whole: fewer are enough. */
const STREAMED_PER_SECOND = 5;
const MESSAGES_PER_SECOND = 300;
const BOUNDARY = 'picture';
const PART_HEAD = `--${BOUNDARY}\r\nContent-Type: image/jpeg\r\n\r\n`;
/** What waits for a viewer that reads too slowly, or not at all: more than every message of a healthy one. */
const WAITING_MAX_BYTES = 4_194_304;

/** Why a socket is closed, beside 1000: the browser has ended. */
export const CLOSED = { notHere: 4404, tooMany: 4429, malformed: 1008 } as const;

export interface LiveServerOptions {
  browsers: SessionBrowsers;
  /** Notes who took control of a browser, and from whom. Rejected: they do not keep it. */
  noteControl: (owner: SessionOwner, viewer: LiveViewer, previous: LiveViewer | undefined) => Promise<void>;
  log: Logger;
}

/** Shows the browsers of this host to people who were let in, and lets one of them work in each. */
export interface LiveServer {
  /** Takes over an open socket. */
  accept(socket: WebSocket, sessionId: string, viewer: LiveViewer): void;
  /** Answers with pictures, one replacing the other (`multipart/x-mixed-replace`): an `<img>` shows them. */
  stream(response: ServerResponse, sessionId: string, viewer: LiveViewer): void;
  close(): void;
}

export function createLiveServer({ browsers, noteControl, log }: LiveServerOptions): LiveServer {
  const rooms = new Map<string, LiveRoom>();
  const awaited = new WeakSet<SessionBrowser>();
  /** Once for a browser, however many rooms it has one after the other: each wait lasts until it ends. */
  const awaitEnd = (browser: SessionBrowser, sessionId: string) => {
    if (awaited.has(browser)) return;
    awaited.add(browser);
    void browser.ending.then((end) => rooms.get(sessionId)?.end(end));
  };

  /** Undefined: the browser is not here, or is watched by too many. */
  const roomOf = (sessionId: string): LiveRoom | 'notHere' | 'tooMany' => {
    const browser = browsers.find(sessionId);
    if (!browser) return 'notHere';
    const known = rooms.get(sessionId);
    if (known) return known.size < VIEWERS_MAX ? known : 'tooMany';
    const room = new LiveRoom(browser, {
      onControl: async (viewer, previous) => {
        try {
          await noteControl(browser.owner, viewer, previous);
          return true;
        } catch (error) {
          log.warn({ err: error, sessionId }, 'it was not noted who took control');
          return false;
        }
      },
      onEmpty: () => {
        if (rooms.get(sessionId) === room) rooms.delete(sessionId);
      },
    });
    rooms.set(sessionId, room);
    awaitEnd(browser, sessionId);
    return room;
  };

  return {
    accept(socket, sessionId, viewer) {
      const room = roomOf(sessionId);
      if (typeof room === 'string') {
        socket.close(CLOSED[room]);
        return;
      }
      const pictures = new PictureWindow(socket);
      const isTooMuch = bucket(MESSAGES_PER_SECOND);
      let member: Member | undefined;
      socket.on('message', (data: Buffer, isBinary) => {
        const message = isBinary || isTooMuch() ? undefined : viewerMessage(data.toString());
        if (!message) socket.close(CLOSED.malformed);
        else if (message.type === 'seen') pictures.seen(message.number);
        else member?.receive(message);
      });
      socket.on('close', () => member?.leave());
      socket.on('error', () => socket.terminate());
      member = room.join(viewer, {
        tell(message) {
          if (socket.bufferedAmount > WAITING_MAX_BYTES) socket.terminate();
          else socket.send(JSON.stringify(message), ignored);
        },
        show: (tab, picture) => pictures.show(tab, picture),
        forget: () => pictures.forget(),
        end: () => socket.close(1000),
      });
    },

    stream(response, sessionId, viewer) {
      const room = roomOf(sessionId);
      if (typeof room === 'string') {
        response.writeHead(room === 'notHere' ? 404 : 503).end();
        return;
      }
      response.writeHead(200, {
        'Content-Type': `multipart/x-mixed-replace; boundary=${BOUNDARY}`,
        'Cache-Control': 'no-store',
      });
      response.write(PART_HEAD);
      const member = room.join({ ...viewer, may: 'watch' }, streamTo(response));
      response.on('close', () => member.leave());
      response.on('error', () => member.leave());
    },

    close() {
      for (const room of rooms.values()) room.close();
    },
  };
}

const ignored = () => undefined;

/** Pictures as parts of one answer; while one is on its way, only the newest waits. */
function streamTo(response: ServerResponse): ViewerConnection {
  let next: Buffer | undefined;
  let isBusy = false;
  const write = () => {
    if (isBusy || !next || response.destroyed) return;
    isBusy = true;
    const jpeg = next;
    next = undefined;
    response.write(jpeg);
    // Chromium shows a picture once it has the head of the next one, which therefore says no length.
    response.write(`\r\n${PART_HEAD}`, () => {
      isBusy = false;
      write();
    });
  };
  return {
    picturesPerSecond: STREAMED_PER_SECOND,
    tell: ignored,
    show(_, { jpeg }) {
      next = jpeg;
      write();
    },
    forget() {
      next = undefined;
    },
    end: () => response.end(),
  };
}

/** Tells whether more than so many a second come, over two seconds. */
function bucket(perSecond: number): () => boolean {
  let level = 0;
  let at = performance.now();
  return () => {
    const now = performance.now();
    level = Math.max(0, level - ((now - at) / 1_000) * perSecond) + 1;
    at = now;
    return level > perSecond * 2;
  };
}
