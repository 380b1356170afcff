import type { Logger } from 'pino';

/** After this a process that was told to stop ends, whatever still hangs. */
const STOP_DEADLINE_MS = 14_000;

/** The process that started this one ended before this one could listen for it. */
let isOrphaned = false;
process.once('disconnect', () => {
  isOrphaned = true;
});

/** Tells the process that started this one, if any, that it is ready. */
export function reportReady(details: Record<string, unknown> = {}): void {
  if (process.connected) process.send?.({ ready: true, ...details });
}

/** When modules are loaded and first connections made. */
const STARTED_AFTER_MS = 5_000;

/**
 * Gives back what loading the modules left behind, some 50 MB, which V8 would keep until it is busy again. Needs Node's
 * flag `--expose-gc`.
 */
export function collectAfterStart(): void {
  const collect = () => {
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  };
  setTimeout(collect, STARTED_AFTER_MS).unref();
}

/** Runs `stop` once when the process is told to end: by SIGTERM, by SIGINT, or because its starter is gone. */
export function onStop(log: Logger, stop: () => Promise<void>): void {
  let isStopping = false;
  const begin = (reason: string) => {
    if (isStopping) return;
    isStopping = true;
    log.info({ reason }, 'stopping');
    setTimeout(() => {
      log.error('did not stop in time');
      process.exit(1);
    }, STOP_DEADLINE_MS).unref();
    stop().then(
      () => {
        log.info('stopped');
        process.exit(0);
      },
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => begin(signal));
  process.on('disconnect', () => begin('the starting process ended'));
  if (isOrphaned) begin('the starting process ended');
}

/** What a failed start prints: one sentence where the operator can act on it, else the whole error. */
export const sentenceOf = (error: unknown, ...known: (new () => Error)[]): string =>
  error instanceof Error && known.some((kind) => error instanceof kind)
    ? `${error.message}\n`
    : `${error instanceof Error ? error.stack : String(error)}\n`;
