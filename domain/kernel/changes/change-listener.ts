import pg from 'pg';
import { within } from '../queues/within.ts';
import { connectionOptions, type DatabaseAccess } from '../data/pool.ts';
import { type Notice, noticeOf } from './change-rules.ts';
import { CHANNEL } from './change-notifier.ts';

/** Shown in `pg_stat_activity`. */
export const LISTENER_NAME = 'quayside-listener';

const RETRY_MS = 250;
const RETRY_MAX_MS = 5_000;
/** A connection that is cut without a word is found out by this. */
const PROBE_EVERY_MS = 10_000;
const ANSWER_MS = 5_000;

const notAnswered = () => {
  throw new Error('The connection of the listener does not answer');
};

export interface ListenerEvents {
  notice: (notice: Notice) => void;
  /** The connection is gone, so that notices are missed; `isBack`: it is there again, and none is missed from now on. */
  interrupted: (isBack: boolean) => void;
  /** A connection was lost or refused. */
  lost: (error: unknown) => void;
}

/**
 * Listens to the notices of all processes on a connection of its own, which it makes when it is first asked to and makes
 * again when it is lost.
 */
export class ChangeListener {
  readonly #access: DatabaseAccess;
  readonly #events: ListenerEvents;
  #listening: Promise<pg.Client> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #isInterrupted = false;

  constructor(access: DatabaseAccess, events: ListenerEvents) {
    this.#access = access;
    this.#events = events;
  }

  /** Begins to listen where it does not yet; rejects when the database does not answer now. */
  async listen(): Promise<void> {
    this.#listening ??= this.#connect();
    const mine = this.#listening;
    try {
      await mine;
    } catch (error) {
      if (this.#listening === mine) this.#listening = undefined;
      throw error;
    }
    if (!this.#isInterrupted || this.#listening !== mine) return;
    this.#isInterrupted = false;
    this.#events.interrupted(true);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const client = await this.#listening?.catch(() => undefined);
    await client?.end();
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(connectionOptions({ ...this.#access, name: LISTENER_NAME }));
    client.on('error', (error) => this.#lost(client, error));
    try {
      await client.connect();
      client.on('notification', ({ payload = '' }) => {
        const notice = noticeOf(payload);
        if (notice) this.#events.notice(notice);
      });
      await client.query(`listen ${CHANNEL}`);
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
    client.on('end', () => this.#lost(client, new Error('The connection of the listener ended')));
    this.#probeLater(client);
    return client;
  }

  #lost(client: pg.Client, error: unknown): void {
    client.removeAllListeners('notification').removeAllListeners('end');
    client.end().catch(() => undefined);
    if (this.#isClosed || !this.#listening) return;
    this.#listening = undefined;
    this.#isInterrupted = true;
    this.#events.lost(error);
    this.#events.interrupted(false);
    this.#listenLater(RETRY_MS);
  }

  #later(waitMs: number, work: () => Promise<unknown>, onFailure: (error: unknown) => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void work().catch(onFailure), waitMs).unref();
  }

  #listenLater(waitMs: number): void {
    this.#later(
      waitMs,
      () => this.listen(),
      () => this.#isClosed || this.#listenLater(Math.min(RETRY_MAX_MS, waitMs * 2)),
    );
  }

  #probeLater(client: pg.Client): void {
    const probe = async () => {
      await within(ANSWER_MS, client.query('select 1'), notAnswered);
      if (!this.#isClosed) this.#probeLater(client);
    };
    this.#later(PROBE_EVERY_MS, probe, (error) => this.#lost(client, error));
  }
}
