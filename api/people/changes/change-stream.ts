import { Readable } from 'node:stream';
import type { ChangeRing } from '../../../domain/kernel/changes/change-ring.ts';
import { type Change, type Position, positionText } from '../../../domain/kernel/changes/change-rules.ts';

/** Things that one frame names. */
export const FRAME_MAX = 100;
/** Between two frames of a stream. */
export const FRAME_EVERY_MS = 250;
/** A client that leaves more than so many bytes unread loses its stream. */
const UNSENT_MAX_BYTES = 64 * 1_024;
/** Clients come back after a time at random up to this, so that not all come at once. */
export const RETRY_MAX_MS = 5_000;

/** Why a client must ask for everything again that it shows. */
export const RESET_REASONS = ['too_old', 'other_epoch', 'too_many', 'interrupted', 'resumed'] as const;
export type ResetReason = (typeof RESET_REASONS)[number];

/** Why a stream ends. */
export const BYE_REASONS = ['stopping', 'credential', 'renew'] as const;
export type ByeReason = (typeof BYE_REASONS)[number];

/** What a stream is told of. */
export interface WantedChanges {
  isWanted: (change: Change) => boolean;
  /** Ids count all changes of the tenant: to others, heartbeats do not tell them. */
  isToldOfAll: boolean;
}

export interface ChangeStreamParts extends WantedChanges {
  ring: ChangeRing;
  /** Where an earlier stream of the client ended. */
  from: Position | undefined;
  /** Version of the API. */
  api: string;
  heartbeatMs: number;
  /** Between two frames. */
  frameEveryMs?: number;
}

const event = (name: string, data: unknown, position?: Position): string =>
  `${position ? `id: ${positionText(position)}\n` : ''}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/**
 * The changes of a tenant as server-sent events. It reads its ring from where it has got to, so that nothing waits for it
 * but bytes that its client has not read yet.
 */
export class ChangeStream {
  readonly readable = new Readable({ read: () => undefined });
  readonly #ring: ChangeRing;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #frameEveryMs: number;
  #wanted: WantedChanges;
  #at: Position;
  #reset: ResetReason | undefined;
  #timer: NodeJS.Timeout | undefined;
  #frameAt = Number.NEGATIVE_INFINITY;
  #isOver = false;

  constructor({ ring, from, api, heartbeatMs, frameEveryMs = FRAME_EVERY_MS, ...wanted }: ChangeStreamParts) {
    this.#frameEveryMs = frameEveryMs;
    this.#ring = ring;
    this.#wanted = wanted;
    const lost = from && ring.whyLost(from);
    this.#at = from && !lost ? from : ring.end;
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs).unref();
    this.readable.once('close', () => {
      clearInterval(this.#heartbeat);
      clearTimeout(this.#timer);
    });
    const retry = `retry: ${Math.floor(Math.random() * RETRY_MAX_MS)}\n`;
    const hello = { id: positionText(this.#at), heartbeatSeconds: Math.ceil(heartbeatMs / 1_000), api };
    this.#push(retry + event('hello', hello, this.#at));
    if (lost) this.reset(lost);
    else this.wake();
  }

  /** What its client may read, and wants to be told of, from now on. */
  want(wanted: WantedChanges): void {
    this.#wanted = wanted;
  }

  /** There may be more in the ring. */
  wake(): void {
    if (this.#timer || this.#isOver || this.readable.destroyed) return;
    const waitMs = this.#frameAt + this.#frameEveryMs - performance.now();
    if (waitMs <= 0) this.#frame();
    else this.#timer = setTimeout(() => this.#frame(), waitMs);
  }

  /** Changes may have been missed. */
  reset(reason: ResetReason): void {
    this.#reset = reason;
    this.wake();
  }

  /** Ends the stream. */
  bye(reason: ByeReason): void {
    if (this.#isOver || this.readable.destroyed) return;
    this.#push(event('bye', { reason, retryWithinMs: RETRY_MAX_MS }));
    this.#isOver = true;
    this.readable.push(null);
    clearInterval(this.#heartbeat);
    clearTimeout(this.#timer);
  }

  #frame(): void {
    this.#timer = undefined;
    const reason = this.#reset ?? this.#ring.whyLost(this.#at);
    if (reason) {
      this.#reset = undefined;
      this.#at = this.#ring.end;
      this.#push(event('reset', { reason }, this.#at));
    } else {
      const { changes, upTo } = this.#ring.after(this.#at.n, FRAME_MAX, this.#wanted.isWanted);
      this.#at = { ...this.#at, n: upTo };
      if (changes.length === 0) return;
      this.#push(event('changes', changes, this.#at));
    }
    this.#frameAt = performance.now();
    if (this.#at.n < this.#ring.end.n) this.wake();
  }

  /** Without data, an id alone is no event, but where a client goes on that has heard of nothing for long. */
  #beat(): void {
    this.#push(this.#wanted.isToldOfAll ? `: \nid: ${positionText(this.#at)}\n\n` : ': \n\n');
  }

  #push(text: string): void {
    if (this.#isOver || this.readable.destroyed) return;
    if (this.readable.readableLength > UNSENT_MAX_BYTES)
      this.readable.destroy(new Error('The client does not read its stream of changes'));
    else this.readable.push(text);
  }
}
