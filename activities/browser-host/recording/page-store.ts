import { backoffMs } from '../../../domain/kernel/shared/backoff-rules.ts';
import { createReadStream } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { PLAYLIST_NAME, recordingKey } from '../../../domain/review/browser-sessions/recordings/local-recordings.ts';
import {
  type RecordedPart,
  recordedPlaylist,
} from '../../../domain/review/browser-sessions/recordings/recorded-playlist-rules.ts';
import type { RecordedPage } from '../../../domain/review/browser-sessions/recordings/recording.mutations.ts';
import type { ObjectStore } from '../../../domain/kernel/objects/object-store.port.ts';
import { within } from '../../../domain/kernel/queues/within.ts';
import type { Deps } from '../../deps.ts';
import type { EncodedFiles } from './encoded-files.ts';

/** How often it is looked for new segments. */
const LOOK_MS = 500;
const ATTEMPT_MS = 30_000;
const FIRST_PAUSE_MS = 250;
const PAUSE_MAX_MS = 5_000;
/** How long after its end what could not be stored is tried on. */
const GIVE_UP_MS = 60_000;
const VIDEO = 'video/mp4';
const PLAYLIST = 'application/vnd.apple.mpegurl';

/** The row of a page; each answers false when its recording is not wanted any more. */
export interface PageRow {
  begin(page: { title: string; startedAt: Date }): Promise<boolean>;
  note(page: RecordedPage): Promise<boolean>;
}

export interface PageStoreParts {
  objects: Pick<ObjectStore, 'put' | 'remove'>;
  owner: { tenantId: string; sessionId: string };
  pageId: number;
  files: EncodedFiles;
  row: PageRow;
  /** The tab's, as it is now. */
  title: () => string;
  log: Deps['log'];
  giveUpMs?: number | undefined;
}

class UnwantedError extends Error {}

/**
 * Takes the recording of a tab to the object store, file by file in its order: what the stored playlist names is there.
 * What fails is tried again while the tab is recorded, and a minute longer.
 */
export class PageStore {
  readonly #parts: PageStoreParts;
  readonly #listed: RecordedPart[] = [];
  readonly #names: string[] = [];
  readonly #ending = new AbortController();
  #bytes = 0;
  #reason: string | null = null;
  #notedReason: string | null = null;
  #endedAt: Date | null = null;
  #giveUpAtMs = Infinity;
  #done: Promise<void> | undefined;
  #isUnwanted = false;

  constructor(parts: PageStoreParts) {
    this.#parts = parts;
  }

  /** The session is gone, or nothing more is recorded of it. */
  get isUnwanted(): boolean {
    return this.#isUnwanted;
  }

  /** Begins to store; @param startedAt when the first picture was taken. */
  begin(startedAt: Date): void {
    this.#done = this.#run(startedAt);
  }

  /** Notes why something is missing; the first reason stays. */
  cutShort(reason: string): void {
    this.#reason ??= reason;
  }

  /** Notes why something is missing of a tab whose recording was stored to its end already, in another tab's stead. */
  async cutShortLate(reason: string): Promise<void> {
    if (this.#isUnwanted || this.#reason !== null) return;
    this.cutShort(reason);
    const { owner, pageId, log } = this.#parts;
    this.#giveUpAtMs = Date.now() + (this.#parts.giveUpMs ?? GIVE_UP_MS);
    await this.#list(true).catch((error: unknown) => {
      if (!(error instanceof UnwantedError))
        log.error({ err: error, sessionId: owner.sessionId, pageId }, 'what is missing of a recording was not noted');
    });
  }

  /** Waits until everything is stored, or given up. Nothing is written any more. */
  async end(endedAt: Date): Promise<void> {
    this.#endedAt = endedAt;
    this.#giveUpAtMs = Date.now() + (this.#parts.giveUpMs ?? GIVE_UP_MS);
    this.#ending.abort();
    await this.#done;
  }

  async #run(startedAt: Date): Promise<void> {
    const { row, title, log, owner, pageId, files } = this.#parts;
    const page = { sessionId: owner.sessionId, pageId };
    try {
      await this.#wanted(() => row.begin({ title: title(), startedAt }));
      while (!this.#ending.signal.aborted) {
        await files.look();
        if (files.next || this.#reason !== this.#notedReason) await this.#storeWaiting();
        else await pause(LOOK_MS, undefined, { signal: this.#ending.signal }).catch(() => undefined);
      }
      await files.look();
      await this.#storeWaiting(true);
    } catch (error) {
      if (error instanceof UnwantedError) return this.#removeStored();
      log.error({ err: error, ...page }, 'the recording of a tab could not be stored');
      this.cutShort('The object store did not take all of it.');
      await this.#list(true).catch(() => undefined);
    }
  }

  async #storeWaiting(isLast = false): Promise<void> {
    const { objects, files } = this.#parts;
    for (let file = files.next; file; file = files.next) {
      const { path, name, part, seconds, bytes } = file;
      this.#names.push(name);
      await this.#retried(() => objects.put(this.#keyOf(name), createReadStream(path), VIDEO));
      this.#bytes += bytes;
      while (this.#listed.length <= part) this.#listed.push({ segments: [] });
      if (seconds !== null) this.#listed[part]?.segments.push({ name, seconds });
      await files.remove();
    }
    await this.#list(isLast);
  }

  /** Stores the playlist of what is stored, and notes it in the row. */
  async #list(isLast: boolean): Promise<void> {
    const { objects, row, title } = this.#parts;
    const segments = this.#listed.reduce((sum, part) => sum + part.segments.length, 0);
    if (segments > 0) {
      const playlist = Buffer.from(recordedPlaylist(this.#listed, isLast));
      await this.#retried(() => objects.put(this.#keyOf(PLAYLIST_NAME), once(playlist), PLAYLIST));
    }
    const endedAt = isLast ? this.#endedAt : null;
    const page = { segments, bytes: this.#bytes, endedAt, reason: this.#reason };
    this.#notedReason = page.reason;
    await this.#wanted(() => row.note({ title: title(), ...page }));
  }

  async #wanted(change: () => Promise<boolean>): Promise<void> {
    if (await this.#retried(change)) return;
    this.#isUnwanted = true;
    throw new UnwantedError();
  }

  async #removeStored(): Promise<void> {
    const { objects, log, owner, pageId } = this.#parts;
    try {
      for (const name of [...this.#names, PLAYLIST_NAME])
        await this.#retried(() => objects.remove(this.#keyOf(name)), Date.now() + GIVE_UP_MS);
    } catch (error) {
      log.error({ err: error, sessionId: owner.sessionId, pageId }, 'an unwanted recording could not be removed');
    }
  }

  async #retried<T>(attempt: () => Promise<T>, giveUpAtMs?: number): Promise<T> {
    for (let failures = 0; ; failures++) {
      try {
        return await within(ATTEMPT_MS, attempt(), tooLate);
      } catch (error) {
        if (Date.now() >= Math.min(this.#giveUpAtMs, giveUpAtMs ?? Infinity)) throw error;
        this.#parts.log.warn({ err: error, failures }, 'a part of a recording was not stored; it is tried again');
        await pause(backoffMs(failures + 1, FIRST_PAUSE_MS, PAUSE_MAX_MS));
      }
    }
  }

  #keyOf(name: string): string {
    return recordingKey(this.#parts.owner, this.#parts.pageId, name);
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function tooLate(): never {
  throw new Error('it took too long');
}
