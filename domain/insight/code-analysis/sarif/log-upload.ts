import { createGunzip } from 'node:zlib';
import { pipeline, Readable } from 'node:stream';
import { objectKey } from '../../../kernel/objects/object-key-rules.ts';
import type { ObjectStore } from '../../../kernel/objects/object-store.port.ts';
import { DomainError, invalidField } from '../../../kernel/shared/errors.ts';
import { newId } from '../../../kernel/shared/ids.ts';
import { inSteps } from '../../../kernel/queues/in-steps.ts';
import type { UnitOfWork } from '../../../unit-of-work.ts';
import { deleteBody, insertBody, noteBodySize } from '../analyses.queries.ts';
import { JsonRefused } from './json-stream.ts';
import { SarifReader } from './sarif-reader.ts';
import { type AnalysisSummary, issuesOf, SummaryTally } from '../summary-rules.ts';

/** Most bytes of a log, or of the body around it. */
export const LOG_MAX_BYTES = 50 * 1024 * 1024;
export const PACKED_MAX_BYTES = 10 * 1024 * 1024;
/** Other requests are served between pieces of this size. */
const PIECE_BYTES = 64 * 1024;
export const SARIF_TYPE = 'application/sarif+json';

/** Where the log of an analysis is kept. */
export const logKey = (tenantId: string, bodyId: string): string => objectKey(tenantId, 'code-analysis', bodyId);

export interface LogStore {
  tx: UnitOfWork;
  objects: ObjectStore;
  tenantId: string;
}

export interface UploadedLog {
  bodyId: string;
  summary: AnalysisSummary;
  /** The members of the body around the log; of a log alone the log without its runs. */
  around: unknown;
}

/**
 * Stores a SARIF log while it is read and checked. Whatever is refused leaves nothing behind.
 * @param isInBody the log is the member `sarif` of a JSON object: an object, or base64 of its gzip.
 * Throws `unprocessable` with a pointer, `invalid_request` for what is no JSON, `payload_too_large`, and `unavailable`
 * when the object store takes nothing.
 */
export async function uploadLog(
  { tx, objects, tenantId }: LogStore,
  chunks: AsyncIterable<Uint8Array>,
  { isInBody }: { isInBody: boolean },
): Promise<UploadedLog> {
  const bodyId = newId();
  await tx((work) => insertBody(work, bodyId));
  const tally = new SummaryTally();
  const log = new LogBytes(isInBody ? chunks : withinLimit(chunks), isInBody, tally);
  try {
    const { sizeBytes } = await objects.put(logKey(tenantId, bodyId), log.bytes(), SARIF_TYPE);
    await tx((work) => noteBodySize(work, bodyId, sizeBytes));
  } catch {
    await discardLogs({ tx, objects, tenantId }, [bodyId]);
    if (log.error !== undefined) throw log.error;
    throw new DomainError('unavailable', 'The object store takes no logs at the moment; try again later', {
      headers: { 'Retry-After': '60' },
    });
  }
  return { bodyId, summary: tally.summary, around: log.around };
}

/** Removes logs that no analysis has; what fails is left to the sweep. */
export async function discardLogs({ tx, objects, tenantId }: LogStore, bodyIds: readonly string[]): Promise<void> {
  for (const bodyId of bodyIds) {
    try {
      await objects.remove(logKey(tenantId, bodyId));
      await tx((work) => deleteBody(work, bodyId));
    } catch {
      return;
    }
  }
}

class LogBytes {
  around: unknown;
  /** Why the log was refused, or could not be received. */
  error: unknown;
  readonly #chunks: AsyncIterable<Uint8Array>;
  readonly #isInBody: boolean;
  readonly #tally: SummaryTally;

  constructor(chunks: AsyncIterable<Uint8Array>, isInBody: boolean, tally: SummaryTally) {
    this.#chunks = chunks;
    this.#isInBody = isInBody;
    this.#tally = tally;
  }

  async *bytes(): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#read();
    } catch (error) {
      this.error = error instanceof JsonRefused ? refusedBody(error) : error;
      throw error;
    }
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    const reader = new SarifReader({ isInBody: this.#isInBody, keepsMessages: false });
    let isFound = false;
    for await (const part of this.#written(reader, this.#chunks)) {
      isFound ||= part.byteLength > 0;
      if (part.byteLength > 0) yield part;
    }
    this.around = reader.end();
    if (isFound || !this.#isInBody) return;
    const { sarif } = (this.around ?? {}) as { sarif?: unknown };
    if (sarif === undefined) throw invalidField('sarif', 'is required');
    if (typeof sarif !== 'string') throw notALog();
    const inner = new SarifReader({ isInBody: false, keepsMessages: false });
    yield* this.#written(inner, unpacked(sarif));
    inner.end();
  }

  /** What of the content belongs to the log; its runs are counted while it is read. */
  async *#written(reader: SarifReader, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces(content)) {
      const part = reader.write(piece);
      for (const { run, results } of reader.takeRuns())
        await inSteps(this.#tally.steps(run, issuesOf(run, results, '')));
      yield part;
    }
  }
}

const notALog = () =>
  new DomainError('unprocessable', 'The member sarif must be a SARIF log, or base64 of its gzip', {
    fields: [{ pointer: 'sarif', detail: 'must be a SARIF log, or base64 of its gzip' }],
  });

const refusedBody = ({ isMalformed, isTooLarge, message, path }: JsonRefused): DomainError =>
  isTooLarge
    ? new DomainError('payload_too_large', `The body has ${message}`)
    : isMalformed
      ? invalidField('#/body', `not valid JSON: ${message}`)
      : invalidField(path.join('/'), message);

/** Content in pieces between which other work is done. */
export async function* pieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.byteLength; at += PIECE_BYTES) yield chunk.subarray(at, at + PIECE_BYTES);
}

/** Content up to the size that readers of logs take. */
async function* withinLimit(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.byteLength;
    if (length > LOG_MAX_BYTES)
      throw new DomainError('payload_too_large', `The log is larger than ${LOG_MAX_BYTES} bytes`);
    yield chunk;
  }
}

/** The decoder passes over any other character. */
const NOT_BASE64 = /[^\w+/=\s-]/;

async function* unpacked(base64: string): AsyncGenerator<Uint8Array> {
  if (NOT_BASE64.test(base64)) throw notALog();
  const packed = Buffer.from(base64, 'base64');
  if (packed.byteLength > PACKED_MAX_BYTES)
    throw new DomainError('payload_too_large', `The packed log is larger than ${PACKED_MAX_BYTES} bytes`);
  const gunzip = pipeline(Readable.from([packed]), createGunzip(), () => undefined);
  let length = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      length += chunk.byteLength;
      if (length > LOG_MAX_BYTES)
        throw new DomainError('payload_too_large', `The log is larger than ${LOG_MAX_BYTES} bytes when it is unpacked`);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof DomainError ? error : notALog();
  }
}
