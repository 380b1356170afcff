import { Worker } from 'node:worker_threads';
import { FormatError, type Imported } from './imported.ts';

export const IMPORT_FORMATS = ['yaml', 'har', 'openapi', 'wiremock'] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

export interface ImportOrder {
  format: ImportFormat;
  content: string;
  /** See `createStandIns`. */
  standInKey: Uint8Array;
  /** Of an HTTP archive: the exchanges with this origin. */
  origin?: string | undefined;
}

export type ImportOutcome = { imported: Imported } | { refusal: string };

const THREAD = new URL('./import-thread.ts', import.meta.url);
const TIMEOUT_MS = 60_000;
const MEMORY_MB = 1_024;
/** More would take the processor from the requests of others. */
const AT_ONCE = 1;

let running = 0;
const waiting: (() => void)[] = [];

/**
 * Reads a document of another tool, or of our own, in a thread of its own: however it is written, it holds up no other
 * request. Throws `FormatError` for one that is refused as a whole.
 */
export async function readImport(order: ImportOrder): Promise<Imported> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    const outcome = await inThread(order);
    if ('refusal' in outcome) throw new FormatError(outcome.refusal);
    return outcome.imported;
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

function inThread(order: ImportOrder): Promise<ImportOutcome> {
  const thread = new Worker(THREAD, {
    workerData: order,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  return new Promise<ImportOutcome>((resolve, reject) => {
    const clock = setTimeout(
      () => resolve({ refusal: `The document takes longer than ${TIMEOUT_MS / 1000} s to read` }),
      TIMEOUT_MS,
    );
    thread.once('message', resolve);
    thread.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY')
        resolve({ refusal: 'The document takes too much memory when it is read' });
      else reject(error);
    });
    thread.once('exit', () => {
      clearTimeout(clock);
      reject(new Error('The thread of an import ended without an outcome'));
    });
  }).finally(() => void thread.terminate());
}
