import { activityInfo } from '@temporalio/activity';
import { withHeartbeat } from './heartbeat.ts';
import { UnderWay } from './under-way.ts';

/** Most outcomes that are not noted yet; with more, nothing is claimed. */
const UNNOTED_MAX = 128;
const POLL_WAIT_MS = 500;
/** A pump ends after this, so that a lane which is always hot still moves between workers and continues as new. */
const PUMP_RUN_MS = 300_000;

export interface RowPumpParts<Row, Outcome> {
  /** Claims rows that are due, so many at most. */
  claim: (limit: number) => Promise<Row[]>;
  /** Handles a claimed row; `cut off` when that was ended by the signal, and the row is to be released. */
  handle: (row: Row, cut: AbortSignal) => Promise<Outcome | 'cut off'>;
  /** Waits until a row may be handled; absent: at once. */
  inSlot?: (work: () => Promise<Outcome | 'cut off'>) => Promise<Outcome | 'cut off'>;
  note: (outcome: Outcome) => Promise<void>;
  /** Releases claimed rows that were not handled. */
  release: (rows: Row[]) => Promise<void>;
  /** Milliseconds until a row is due; undefined: none is pending. */
  nextDueInMs: () => Promise<number | undefined>;
  /** Waits until something may be due, for some time at most; absent: until less is held. */
  waitForDue?: (claimed: number, withinMs: number) => Promise<void>;
  /** Most rows that it holds, and how few of them are left when it claims again: many rows cost little more than few. */
  heldMax: number;
  refillAt: number;
  /** A claimed row that has waited this long for its slot is released: its lease must outlive what is done with it. */
  waitMaxMs?: number;
  /** How long it looks for more after its last row. */
  lingerMs?: number;
  /** Told to stop, it gives what has begun this long before it cuts that off. */
  graceMs?: number;
}

/**
 * Handles rows that are due, and those that become due while it lingers, until none is left or `stop`. Answers in how many
 * ms there is more: 0 when it ended before all was done, null when there is nothing.
 */
export async function pumpRows<Row, Outcome>(
  parts: RowPumpParts<Row, Outcome>,
  stop: AbortSignal,
): Promise<number | null> {
  const pump = new RowPump(parts, stop);
  try {
    return await pump.run();
  } finally {
    await pump.close();
  }
}

/** An activity that pumps; a repetition first releases what a lost worker held. */
export const asPump = <T>(releaseAll: () => Promise<unknown>, pump: (stop: AbortSignal) => Promise<T>): Promise<T> =>
  withHeartbeat(async (stop) => {
    if (activityInfo().attempt > 1) await releaseAll();
    return pump(stop);
  });

class RowPump<Row, Outcome> {
  readonly #parts: RowPumpParts<Row, Outcome>;
  readonly #stop: AbortSignal;
  readonly #held = new UnderWay();
  readonly #unnoted = new UnderWay();
  readonly #cut = new AbortController();
  #isEnding = false;
  #toRelease: Row[] = [];

  constructor(parts: RowPumpParts<Row, Outcome>, stop: AbortSignal) {
    this.#parts = parts;
    this.#stop = stop;
    stop.addEventListener('abort', this.#end, { once: true });
  }

  /** Begins nothing more, and soon cuts off what has begun. */
  readonly #end = () => {
    this.#isEnding = true;
    setTimeout(() => this.#cut.abort(), this.#parts.graceMs ?? 0);
  };

  async run(): Promise<number | null> {
    const { claim, nextDueInMs, heldMax, lingerMs = 0 } = this.#parts;
    const endAt = performance.now() + PUMP_RUN_MS;
    let checkAt = 0;
    while (!this.#stop.aborted && performance.now() < endAt) {
      const free = heldMax - this.#held.size;
      const claimed = free > 0 ? await claim(free) : [];
      const claimedAt = performance.now();
      for (const row of claimed) this.#held.add(this.#handle(row, claimedAt));
      if (claimed.length > 0) checkAt = claimedAt + lingerMs;
      await this.#unnoted.downTo(UNNOTED_MAX);
      const isFull = claimed.length === free;
      if (isFull) await this.#held.downTo(this.#parts.refillAt, POLL_WAIT_MS);
      await this.#release();
      this.#throwFailure();
      if (isFull) continue;
      if (this.#held.size + this.#unnoted.size === 0 && performance.now() > checkAt) {
        const inMs = await nextDueInMs();
        // A Temporal timer may come a second late: near retries are waited for here.
        if (inMs === undefined || inMs > lingerMs) return inMs ?? null;
        checkAt = performance.now() + POLL_WAIT_MS;
      }
      await this.#waitForDue(claimed.length);
    }
    await this.#finish();
    this.#throwFailure();
    return 0;
  }

  /** Leaves nothing under way, however the run ended. */
  async close(): Promise<void> {
    this.#stop.removeEventListener('abort', this.#end);
    if (this.#held.size > 0) this.#end();
    await this.#finish().catch(() => undefined);
  }

  async #waitForDue(claimed: number): Promise<void> {
    const { waitForDue, refillAt } = this.#parts;
    if (waitForDue) await waitForDue(claimed, POLL_WAIT_MS);
    else if (this.#held.size > 0) await this.#held.downTo(Math.min(refillAt, this.#held.size - 1), POLL_WAIT_MS);
    else await this.#unnoted.downTo(0);
  }

  async #finish(): Promise<void> {
    this.#isEnding = true;
    await this.#held.downTo(0);
    await this.#unnoted.downTo(0);
    await this.#release();
  }

  #throwFailure(): void {
    this.#held.throwFailure();
    this.#unnoted.throwFailure();
  }

  async #release(): Promise<void> {
    const rows = this.#toRelease.splice(0);
    if (rows.length > 0) await this.#parts.release(rows);
  }

  async #handle(row: Row, claimedAt: number): Promise<void> {
    const { handle, inSlot = (work) => work(), note, waitMaxMs = Number.POSITIVE_INFINITY } = this.#parts;
    const outcome = await inSlot(async () => {
      const isLate = performance.now() - claimedAt > waitMaxMs;
      return isLate || this.#isEnding ? 'cut off' : handle(row, this.#cut.signal);
    });
    if (outcome === 'cut off') this.#toRelease.push(row);
    else this.#unnoted.add(note(outcome));
  }
}
