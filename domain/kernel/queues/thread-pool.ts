import type { Transferable, Worker } from 'node:worker_threads';
import { isOutOfMemory, newThread } from './new-thread.ts';
import { type SlotLimits, Slots } from './slots.ts';

export interface ThreadPoolLimits extends Pick<SlotLimits, 'works' | 'waitingPerHolder' | 'waitMs'> {
  threads: number;
  /** A thread that answers later is ended. */
  deadlineMs: number;
  /** The most that the heap of a thread may have; more ends it. */
  memoryMb: number;
}

/** Why a thread ended before it had answered. */
export class ThreadEndedError extends Error {
  readonly reason: 'deadline' | 'memory' | 'died';

  constructor(reason: ThreadEndedError['reason'], cause?: unknown) {
    super(`A thread ended before it had answered: ${reason}`, { cause });
    this.reason = reason;
  }
}

/** A thread while it works for one caller. */
export interface PooledThread {
  /** What the thread was given to keep, by names that callers choose; the one that was used last comes last. */
  held: Set<string>;
  /** Sends what has no answer of its own. */
  post: (message: unknown, transfer?: Transferable[]) => void;
  /** Sends a message, and waits for the next one of the thread. Throws `ThreadEndedError`. */
  ask: (message: unknown, transfer?: Transferable[]) => Promise<unknown>;
}

interface Thread extends PooledThread {
  worker: Worker;
  idle?: NodeJS.Timeout;
}

const IDLE_MS = 60_000;

/**
 * A few threads of one module, which answers each message with one. They are started when they are needed, replaced when
 * they die or pass their deadline, and ended when nobody has needed them for a minute. A tenant has one at a time.
 */
export class ThreadPool {
  readonly #module: URL;
  readonly #limits: ThreadPoolLimits;
  readonly #slots: Slots;
  readonly #idle = new Set<Thread>();
  readonly #threads = new Set<Thread>();
  #isClosed = false;

  constructor(module: URL, limits: ThreadPoolLimits) {
    this.#module = module;
    this.#limits = limits;
    this.#slots = new Slots({ ...limits, total: limits.threads, perHolder: 1 });
  }

  /**
   * Works with a thread when there is one, that which holds `wanted` if it can be. Throws what slots do when others
   * come first, and what `work` throws.
   */
  run<T>(tenantId: string, wanted: string, work: (thread: PooledThread) => Promise<T>): Promise<T> {
    return this.#slots.run(tenantId, async () => {
      if (this.#isClosed) throw new ThreadEndedError('died');
      const idle = [...this.#idle];
      const thread = idle.find(({ held }) => held.has(wanted)) ?? idle[0] ?? this.#start();
      this.#idle.delete(thread);
      clearTimeout(thread.idle);
      thread.worker.ref();
      try {
        return await work(thread);
      } finally {
        if (this.#threads.has(thread)) this.#rest(thread);
      }
    });
  }

  /** Ends all threads; what they are asked meanwhile fails, and what they are asked later. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#threads].map((thread) => this.#end(thread)));
  }

  #rest(thread: Thread): void {
    thread.worker.unref();
    thread.idle = setTimeout(() => void this.#end(thread), IDLE_MS).unref();
    this.#idle.add(thread);
  }

  async #end(thread: Thread): Promise<void> {
    clearTimeout(thread.idle);
    this.#threads.delete(thread);
    this.#idle.delete(thread);
    await thread.worker.terminate();
  }

  #start(): Thread {
    const worker = newThread(this.#module, this.#limits.memoryMb);
    const thread: Thread = {
      worker,
      held: new Set(),
      post: (message, transfer) => worker.postMessage(message, transfer),
      ask: (message, transfer) => this.#ask(thread, message, transfer),
    };
    this.#threads.add(thread);
    // One that dies while it rests is not asked again.
    worker.on('error', () => undefined);
    worker.on('exit', () => void this.#end(thread));
    return thread;
  }

  async #ask(thread: Thread, message: unknown, transfer?: Transferable[]): Promise<unknown> {
    if (!this.#threads.has(thread)) throw new ThreadEndedError('died');
    const { worker } = thread;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const onError = (error: unknown) => reject(new ThreadEndedError(isOutOfMemory(error) ? 'memory' : 'died', error));
    const onExit = () => reject(new ThreadEndedError('died'));
    const clock = setTimeout(() => reject(new ThreadEndedError('deadline')), this.#limits.deadlineMs);
    worker.once('message', resolve).once('error', onError).once('exit', onExit);
    try {
      worker.postMessage(message, transfer);
    } catch (error) {
      reject(error);
    }
    return promise
      .catch((error: unknown) => {
        void this.#end(thread);
        throw error;
      })
      .finally(() => {
        clearTimeout(clock);
        worker.off('message', resolve).off('error', onError).off('exit', onExit);
      });
  }
}
