import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import type { Cdp, CdpMessage, SessionBrowser } from '../chromium/browser.ts';
import { isMembers, isShown, judge, type Members, shownResult, withoutCredentials } from './cdp-rules.ts';

/** Commands of a client that are not answered yet. */
const WAITING_MAX = 1_000;
/** Sessions of the protocol of one client: tabs, frames and workers. */
const SESSIONS_MAX = 500;
const COMMANDS_PER_SECOND = 1_000;
const TICK_MS = 100;
/** What a client has not read yet; beyond it the connection is cut. */
const UNREAD_MAX_BYTES = 32 * 1024 * 1024;

/** Why a socket of automation is closed, beside what every socket of the host is closed for. */
const CLOSE = { malformed: 1007, unread: 1008, failed: 1011 } as const;
/** Codes of JSON-RPC, as Chromium uses them. */
const ERROR = { malformed: -32_600, refused: -32_000, noSession: -32_001 } as const;

/**
 * Lets automation speak the Chrome DevTools Protocol to an allocated browser. Each client has a root session of its own, which
 * it takes for the browser: it sees its own sessions and their events alone, calls what `cdp-rules.ts` allows, and when it
 * leaves its sessions are detached while the browser goes on. Clients may be many.
 */
export async function bridge(socket: WebSocket, browser: SessionBrowser, log: Logger): Promise<void> {
  const early: Buffer[] = [];
  const keep = (data: Buffer) => void early.push(data);
  socket.on('message', keep);
  socket.pause();
  try {
    const { sessionId } = await browser.cdp.send('Target.attachToBrowserTarget');
    const client = new CdpClient(socket, browser, String(sessionId));
    socket.off('message', keep);
    for (const data of early) client.receive(data);
    socket.on('message', (data: Buffer) => client.receive(data));
    socket.resume();
  } catch (error) {
    log.warn({ err: error, sessionId: browser.owner.sessionId }, 'automation was not connected');
    socket.close(CLOSE.failed, 'The browser does not answer');
  }
}

/** A session of the protocol that a client has attached. */
interface Attached {
  /** Undefined: it is of something else, as a frame or a worker. */
  tab: string | undefined;
  /** Ends its attendance to dialogs; undefined: it is not told of them. */
  stopAttending?: (() => void) | undefined;
  /** It has set a viewport. */
  isResized?: boolean;
}

class CdpClient {
  readonly #socket: WebSocket;
  readonly #browser: SessionBrowser;
  readonly #cdp: Cdp;
  readonly #root: string;
  readonly #sessions = new Map<string, Attached>();
  #waiting = 0;
  #received = 0;
  #isLeft = false;

  constructor(socket: WebSocket, browser: SessionBrowser, root: string) {
    this.#socket = socket;
    this.#browser = browser;
    this.#cdp = browser.cdp;
    this.#root = root;
    const stop = browser.cdp.onAnyEvent((message) => this.#show(message));
    const clock = setInterval(() => this.#breathe(), TICK_MS);
    const leave = () => {
      if (this.#isLeft) return;
      this.#isLeft = true;
      stop();
      clearInterval(clock);
      for (const session of this.#sessions.values()) stopAttending(session);
      // Sessions that were attached by it end with it.
      const detached = this.#cdp.send('Target.detachFromTarget', { sessionId: root });
      const restore = () => {
        for (const session of this.#sessions.values()) this.#restoreViewport(session);
      };
      detached.then(restore).catch(() => undefined);
    };
    socket.on('close', leave);
    if (socket.readyState > socket.OPEN) leave();
    void browser.cdp.closed.then(() => socket.close(CLOSE.failed, 'The browser is gone'));
  }

  /** Takes a message of the client. One that is no command closes the connection. */
  receive(data: Buffer): void {
    if (this.#isLeft) return;
    if (++this.#received >= (COMMANDS_PER_SECOND * TICK_MS) / 1_000) this.#socket.pause();
    const message = commandOf(data);
    if (!message) {
      this.#socket.close(CLOSE.malformed, 'A message is no command of the protocol');
      return;
    }
    const { id, method, params, sessionId } = message;
    const reply = { id, ...(sessionId !== undefined && { sessionId }) };
    if (sessionId !== undefined && !this.#sessions.has(sessionId)) {
      this.#fail({ id }, ERROR.noSession, 'Session with given id not found.');
      return;
    }
    const verdict = judge(method, params, {
      tabs: this.#browser.tabs.list().length,
      owns: (session) => this.#sessions.has(session),
    });
    if (verdict.kind === 'answer') this.#tell({ ...reply, result: verdict.result });
    else if (verdict.kind === 'refuse') this.#fail(reply, ERROR.refused, verdict.why);
    else if (this.#waiting >= WAITING_MAX) this.#fail(reply, ERROR.refused, 'Too many commands are not answered yet');
    else {
      this.#attend(method, this.#sessions.get(sessionId ?? ''));
      void this.#ask(reply, { method, params: verdict.params, sessionId: sessionId ?? this.#root });
    }
  }

  /** Who is told what happens in a page answers its dialogs, as playwright does even where nobody listens to them. */
  #attend(method: string, session: Attached | undefined): void {
    if (session?.tab === undefined) return;
    if (method === 'Page.disable') stopAttending(session);
    else if (method === 'Page.enable') session.stopAttending ??= this.#browser.tabs.attend(session.tab);
  }

  async #ask(reply: { id: number; sessionId?: string }, command: CdpMessage): Promise<void> {
    this.#waiting++;
    try {
      const { result, error } = await this.#cdp.pass(command);
      if (!error) this.#noteViewport(command);
      if (error) this.#tell({ ...reply, error });
      else this.#tell({ ...reply, result: shownResult(command.method, result ?? {}) });
    } catch {
      this.#fail(reply, ERROR.refused, 'The browser is gone');
    } finally {
      this.#waiting--;
    }
  }

  #noteViewport({ method, sessionId = '' }: CdpMessage): void {
    const session = this.#sessions.get(sessionId);
    if (!session) return;
    if (method === 'Emulation.setDeviceMetricsOverride') session.isResized = true;
    else if (method === 'Emulation.clearDeviceMetricsOverride') this.#restoreViewport(session);
  }

  /** With a client, or its session, that of the page ends, too, and that of the browser's window would be left: it is none. */
  #restoreViewport(session: Attached): void {
    if (session.isResized && session.tab !== undefined) this.#browser.tabs.restoreViewport(session.tab);
    session.isResized = false;
  }

  /** Passes an event of the client's own sessions on, and notes which sessions those are. */
  #show({ method, params = {}, sessionId }: CdpMessage): void {
    if (method === undefined || sessionId === undefined) return;
    if (sessionId !== this.#root && !this.#sessions.has(sessionId)) return;
    if (method === 'Target.attachedToTarget' && !this.#attach(params)) return;
    if (isShown(method)) {
      const event = { method, params: withoutCredentials(method, params) };
      this.#tell(sessionId === this.#root ? event : { ...event, sessionId });
    }
    if (method === 'Target.detachedFromTarget') this.#detached(String(params.sessionId));
  }

  #detached(sessionId: string): void {
    const session = this.#sessions.get(sessionId);
    if (!session) return;
    stopAttending(session);
    this.#restoreViewport(session);
    this.#sessions.delete(sessionId);
  }

  /** @param params of `Target.attachedToTarget`. */
  #attach(params: Members): boolean {
    const sessionId = String(params.sessionId);
    const { type, targetId } = isMembers(params.targetInfo) ? params.targetInfo : {};
    if (this.#sessions.size < SESSIONS_MAX) {
      this.#sessions.set(sessionId, { tab: type === 'page' ? String(targetId) : undefined });
      return true;
    }
    this.#cdp.send('Target.detachFromTarget', { sessionId }, this.#root).catch(() => undefined);
    return false;
  }

  #fail(reply: { id: number; sessionId?: string }, code: number, message: string): void {
    this.#tell({ ...reply, error: { code, message } });
  }

  #tell(message: CdpMessage): void {
    if (this.#isLeft) return;
    if (this.#socket.bufferedAmount > UNREAD_MAX_BYTES) {
      this.#socket.close(CLOSE.unread, 'The client reads too slowly');
      this.#socket.terminate();
      return;
    }
    this.#socket.send(JSON.stringify(message), () => undefined);
  }

  /** Commands come as fast as the browser is to take them. */
  #breathe(): void {
    this.#received = 0;
    if (this.#socket.isPaused) this.#socket.resume();
  }
}

function stopAttending(session: Attached): void {
  session.stopAttending?.();
  session.stopAttending = undefined;
}

interface Command {
  id: number;
  method: string;
  params: Members;
  sessionId: string | undefined;
}

function commandOf(data: Buffer): Command | undefined {
  try {
    const parsed: unknown = JSON.parse(data.toString());
    if (!isMembers(parsed)) return undefined;
    const { id, method, params = {}, sessionId } = parsed;
    if (!Number.isSafeInteger(id) || typeof method !== 'string' || !isMembers(params)) return undefined;
    if (sessionId !== undefined && typeof sessionId !== 'string') return undefined;
    return { id: id as number, method, params, sessionId };
  } catch {
    return undefined;
  }
}
