import { isOutOfMemory, newThread } from '../../kernel/queues/new-thread.ts';
import { Slots } from '../../kernel/queues/slots.ts';
import { FormatError, type Imported } from './imported.ts';

export const IMPORT_FORMATS = ['yaml', 'har', 'openapi', 'wiremock'] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

export interface ImportOrder {
  format: ImportFormat;
  content: string;
  /** `content` is the base64 of a zip. */
  isPacked?: boolean | undefined;
  /** See `createStandIns`. */
  standInKey: Uint8Array;
  /** Origin whose exchanges of an HTTP archive are imported. Default: the one with the most. */
  origin?: string | undefined;
  /** Whether requests that break an OpenAPI document are refused. Default: true. */
  validates?: boolean | undefined;
}

export type ImportOutcome = { imported: Imported } | { refusal: string };

const THREAD = new URL('./import-thread.ts', import.meta.url);
const TIMEOUT_MS = 30_000;
const MEMORY_MB = 512;
/** More would take the processor from the requests of others. Those that wait hold their documents in memory. */
const slots = new Slots({
  works: 'imports',
  total: 2,
  perHolder: 1,
  waitingPerHolder: 3,
  waitMs: 60_000,
});

/**
 * Reads a document of another tool, or of our own, in a thread of its own: however it is written, it holds up no other
 * request. Each tenant has a share of the threads. Throws `FormatError` for one that is refused as a whole, `rate_limited`
 * and `unavailable` when others are read first.
 * @param signal of whoever waits for it: without them it is not read any further.
 */
export const readImport = (tenantId: string, order: ImportOrder, signal: AbortSignal): Promise<Imported> =>
  slots.run(
    tenantId,
    async () => {
      const outcome = await inThread(order, signal);
      if ('refusal' in outcome) throw new FormatError(outcome.refusal);
      return outcome.imported;
    },
    { signal },
  );

function inThread(order: ImportOrder, signal: AbortSignal): Promise<ImportOutcome> {
  const thread = newThread(THREAD, MEMORY_MB, order);
  return new Promise<ImportOutcome>((resolve, reject) => {
    const clock = setTimeout(
      () => resolve({ refusal: `The document takes longer than ${TIMEOUT_MS / 1000} s to read` }),
      TIMEOUT_MS,
    );
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    thread.once('message', resolve);
    thread.once('error', (error: unknown) => {
      if (isOutOfMemory(error)) resolve({ refusal: 'The document takes too much memory when it is read' });
      else reject(error);
    });
    thread.once('exit', () => {
      clearTimeout(clock);
      reject(new Error('The thread of an import ended without an outcome'));
    });
  }).finally(() => void thread.terminate());
}
