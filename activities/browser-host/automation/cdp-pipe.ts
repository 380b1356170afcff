import type { Readable, Writable } from 'node:stream';
import { type Cdp, CdpError, type CdpMessage } from '../chromium/browser.ts';
import { MessageSplitter } from './cdp-messages.ts';

const MESSAGE_MAX_BYTES = 64 * 1024 * 1024;
/** Reading a longer one would hold up all that the host does: an answer is left out for an error, an event altogether. */
const READ_MAX_BYTES = 8 * 1024 * 1024;
/** What answers begin with. */
const ID = /^\{"id":(\d+),/;
const ID_MAX_BYTES = 32;
const REFUSED = -32_000;
const WAITING_MAX = 10_000;
/** For what a browser that does not listen any more has still to say. */
const LAST_ANSWERS_MS = 1_000;
/** What Chromium itself answers for a session that it does not know. */
const SESSION_NOT_FOUND = { code: -32_001, message: 'Session with given id not found.' };

interface Waiting {
  sessionId: string | undefined;
  resolve: (reply: CdpMessage) => void;
  reject: (error: CdpError) => void;
}

type Listener = (method: string, params: Record<string, unknown>) => void;

/**
 * The protocol over the two pipes of `--remote-debugging-pipe`: JSON messages, each with a NUL behind it. A message of more
 * than 64 MB or that is no JSON closes the connection.
 * @param toBrowser file descriptor 3 of the browser. @param fromBrowser its file descriptor 4.
 */
export class CdpPipe implements Cdp {
  readonly closed: Promise<void>;
  readonly #toBrowser: Writable;
  readonly #fromBrowser: Readable;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Map<string | undefined, Set<Listener>>();
  readonly #anyListeners = new Set<(message: CdpMessage) => void>();
  readonly #close: () => void;
  /** Sessions by the one that they were attached by, with which they end without a word. */
  readonly #children = new Map<string, string[]>();
  #received: Buffer[] = [];
  #isClosed = false;
  /** Nothing can be asked any more, though answers may still come. */
  #isUnheard = false;
  #lastId = 0;

  constructor(toBrowser: Writable, fromBrowser: Readable) {
    this.#toBrowser = toBrowser;
    this.#fromBrowser = fromBrowser;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    this.#close = resolve;
    const splitter = new MessageSplitter(MESSAGE_MAX_BYTES, (message) => this.#received.push(message));
    fromBrowser.on('data', (chunk: Buffer) => {
      this.#orClose(() => splitter.add(chunk));
      this.#takeReceived();
    });
    fromBrowser.on('error', () => this.close()).on('close', () => this.close());
    // A browser that ends closes this end first, and answers what it was asked last by the other one.
    toBrowser.on('error', () => this.#isNotHeard()).on('close', () => this.#isNotHeard());
  }

  async send(method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> {
    const { result, error } = await this.#ask({
      method,
      params: { ...params },
      ...(sessionId !== undefined && { sessionId }),
    });
    if (error) throw new CdpError(`The browser refused ${method}: ${error.message ?? 'without a reason'}`);
    return result ?? {};
  }

  async pass(message: CdpMessage): Promise<CdpMessage> {
    const reply = await this.#ask(message);
    return message.id === undefined ? reply : { ...reply, id: message.id };
  }

  onEvent(sessionId: string | undefined, listener: Listener): () => void {
    const listeners = this.#listeners.get(sessionId) ?? new Set();
    this.#listeners.set(sessionId, listeners);
    // A function of its own, so that a listener that is added twice is called twice and ends twice.
    const own: Listener = (method, params) => listener(method, params);
    listeners.add(own);
    return () => {
      listeners.delete(own);
      if (listeners.size === 0 && this.#listeners.get(sessionId) === listeners) this.#listeners.delete(sessionId);
    };
  }

  onAnyEvent(listener: (message: CdpMessage) => void): () => void {
    const own = (message: CdpMessage) => listener(message);
    this.#anyListeners.add(own);
    return () => void this.#anyListeners.delete(own);
  }

  /** Gives the connection up; a browser ends with it. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#toBrowser.destroy();
    this.#fromBrowser.destroy();
    for (const { reject } of this.#waiting.values()) reject(gone());
    this.#waiting.clear();
    this.#listeners.clear();
    this.#anyListeners.clear();
    this.#close();
  }

  #isNotHeard(): void {
    if (this.#isUnheard || this.#isClosed) return;
    this.#isUnheard = true;
    const timer = setTimeout(() => this.close(), LAST_ANSWERS_MS);
    void this.closed.then(() => clearTimeout(timer));
  }

  #ask(message: CdpMessage): Promise<CdpMessage> {
    if (this.#isClosed || this.#isUnheard) return Promise.reject(gone());
    if (this.#waiting.size >= WAITING_MAX)
      return Promise.reject(new CdpError('The browser leaves too much unanswered'));
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<CdpMessage>();
    this.#waiting.set(id, { sessionId: message.sessionId, resolve, reject });
    this.#toBrowser.write(`${JSON.stringify({ ...message, id })}\0`);
    return promise;
  }

  /** Who waited for a reply goes on before the next message is taken: so events and replies keep their order. */
  #takeReceived(): void {
    const messages = this.#received;
    this.#received = [];
    let taken = 0;
    this.#orClose(() => {
      while (taken < messages.length && !this.#isClosed) if (this.#take(messages[taken++])) break;
    });
    if (this.#isClosed || taken === messages.length) return;
    this.#received = messages.slice(taken);
    this.#fromBrowser.pause();
    setImmediate(() => {
      this.#takeReceived();
      if (this.#received.length === 0) this.#fromBrowser.resume();
    });
  }

  #orClose(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof RangeError || error instanceof SyntaxError)) throw error;
      this.close();
    }
  }

  /** Answers whether somebody waited for it. */
  #take(bytes: Buffer | undefined): boolean {
    const message = readMessage(bytes ?? Buffer.alloc(0));
    if (message.id !== undefined) {
      this.#waiting.get(message.id)?.resolve(message);
      return this.#waiting.delete(message.id);
    }
    const { method, params = {}, sessionId } = message;
    if (method === undefined) return false;
    for (const listener of this.#anyListeners) listener(message);
    for (const listener of this.#listeners.get(sessionId) ?? []) listener(method, params);
    if (method === 'Target.attachedToTarget' && sessionId !== undefined)
      this.#children.set(sessionId, [...(this.#children.get(sessionId) ?? []), params.sessionId as string]);
    if (method === 'Target.detachedFromTarget') this.#forget(params.sessionId as string);
    return false;
  }

  /** What was asked of a session that is gone stays without an answer. */
  #forget(sessionId: string): void {
    for (const [id, waiting] of this.#waiting) {
      if (waiting.sessionId !== sessionId) continue;
      this.#waiting.delete(id);
      waiting.resolve({ id, error: SESSION_NOT_FOUND, sessionId });
    }
    this.#listeners.delete(sessionId);
    const children = this.#children.get(sessionId) ?? [];
    this.#children.delete(sessionId);
    for (const child of children) this.#forget(child);
  }
}

function readMessage(bytes: Buffer): CdpMessage {
  if (bytes.length <= READ_MAX_BYTES) return JSON.parse(bytes.toString()) as CdpMessage;
  const [, id] = ID.exec(bytes.toString('latin1', 0, ID_MAX_BYTES)) ?? [];
  const error = { code: REFUSED, message: `The answer has ${bytes.length} bytes, and may have ${READ_MAX_BYTES}` };
  return id === undefined ? {} : { id: Number(id), error };
}

const gone = () => new CdpError('The browser is gone');
