import { createPool, type DatabaseAccess } from '../data/pool.ts';
import type { TenantKey } from '../shared/actor.ts';
import { type Change, keyOfChange, noticeText, WAITING_MAX } from './change-rules.ts';

/** The channel of PostgreSQL on which processes tell each other what they committed. */
export const CHANNEL = 'quayside_changes';
/** Shown in `pg_stat_activity`. */
export const NOTIFIER_NAME = 'quayside-notifier';

/** PostgreSQL takes less than 8,000 bytes. */
const NOTICE_MAX_BYTES = 7_000;
/** Between two notices of a process. */
const EVERY_MS = 100;
/** Between attempts while the database is away. */
const RETRY_MS = 1_000;
/** A connection that is cut without a word does not answer. */
const ANSWER_MS = 5_000;
/** Tenants that wait to be told to ask again; past that all are told. */
const AGAIN_MAX = 150;

export interface ChangeNotifier {
  /** What a transaction of a tenant changed, after its commit. Returns at once and never throws. */
  changed: (tenant: Pick<TenantKey, 'tenantId'>, changes: readonly Change[]) => void;
  /** Sends what waits, where the database answers, and closes the connection. */
  close: () => Promise<void>;
}

/** What waits for the next notice. */
class Waiting {
  #changes = new Map<string, Map<string, Change>>();
  #again = new Set<string>();
  #isAll = false;

  get isEmpty(): boolean {
    return this.#changes.size === 0 && this.#again.size === 0 && !this.#isAll;
  }

  add(tenantId: string, changes: readonly Change[]): void {
    if (this.#isAll || this.#again.has(tenantId)) return;
    const known = this.#changes.get(tenantId) ?? new Map<string, Change>();
    for (const change of changes) known.set(keyOfChange(change), change);
    if (known.size > WAITING_MAX) this.#tell([tenantId]);
    else this.#changes.set(tenantId, known);
  }

  /** Whether or not a notice arrived is not known: its tenants ask again. */
  putBack(other: Waiting): void {
    this.#isAll ||= other.#isAll;
    this.#tell([...other.#changes.keys(), ...other.#again]);
  }

  get text(): string {
    const changes = new Map([...this.#changes].map(([tenantId, of]) => [tenantId, [...of.values()]]));
    return noticeText({ changes, again: this.#isAll ? 'all' : [...this.#again] }, NOTICE_MAX_BYTES);
  }

  #tell(tenantIds: readonly string[]): void {
    for (const tenantId of tenantIds) {
      this.#changes.delete(tenantId);
      this.#again.add(tenantId);
    }
    this.#isAll ||= this.#again.size > AGAIN_MAX;
    if (!this.#isAll) return;
    this.#changes.clear();
    this.#again.clear();
  }
}

/**
 * Tells all processes what this one has committed: at most one notice in 100 ms, on a connection of its own, since a
 * commit with a notice waits for that of every other session of the server. Connects when there is something to tell.
 * @param onLost is told of connections that were lost or refused.
 */
export function createChangeNotifier(access: DatabaseAccess, onLost: (error: unknown) => void): ChangeNotifier {
  const pool = createPool({ ...access, poolSize: 1, name: NOTIFIER_NAME, answerMs: ANSWER_MS }, onLost);
  let waiting = new Waiting();
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;
  let nextAt = 0;
  let isClosed = false;

  const send = async (): Promise<void> => {
    timer = undefined;
    const sent = waiting;
    waiting = new Waiting();
    nextAt = performance.now() + EVERY_MS;
    try {
      await pool.query('select pg_notify($1, $2)', [CHANNEL, sent.text]);
    } catch (error) {
      onLost(error);
      waiting.putBack(sent);
      nextAt = performance.now() + RETRY_MS;
    }
    sending = undefined;
    if (!isClosed) plan();
  };
  const plan = (): void => {
    if (timer || sending || waiting.isEmpty) return;
    timer = setTimeout(() => (sending = send()), Math.max(0, nextAt - performance.now()));
    timer.unref();
  };

  return {
    changed({ tenantId }, changes) {
      if (changes.length === 0 || isClosed) return;
      waiting.add(tenantId, changes);
      plan();
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await sending;
      if (!waiting.isEmpty) await send();
      await pool.end();
    },
  };
}
