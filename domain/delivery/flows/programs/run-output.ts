import { Readable } from 'node:stream';
import { requestedRange } from '../../../kernel/objects/byte-range-rules.ts';
import type { ObjectStore } from '../../../kernel/objects/object-store.port.ts';
import { DomainError, notFound } from '../../../kernel/shared/errors.ts';
import { type KeptOutput, readableOutput } from './output-rules.ts';

/** The output of a run, or the part of it that was asked for. */
export interface OutputPart {
  content: Readable | Uint8Array;
  /** Position of its first byte in all of the output. */
  from: number;
  isComplete: boolean;
  /** `Content-Range`; undefined: it is all that there is. */
  range?: string;
}

/**
 * What there is of the output of a run, or the part that a `Range` header asks for; what of that is not kept any more is left
 * out. Throws `not_found` where there is none, and `range_not_satisfiable` where nothing was printed there yet.
 */
export async function outputOf(kept: KeptOutput, store: ObjectStore, header: string | null): Promise<OutputPart> {
  const { outputObject, bytes, hasEnded } = kept;
  const stored = outputObject === null ? undefined : await store.sizeOf(outputObject);
  const found = stored === undefined || outputObject === null ? undefined : { key: outputObject, size: stored };
  const readable = found ? undefined : readableOutput(kept);
  if (!found && !readable) throw notFound('The output of the run');
  const from = readable?.from ?? 0;
  const end = found?.size ?? from + (readable?.content.length ?? 0);
  const isComplete = readable?.isComplete ?? (hasEnded && bytes === end);
  const wanted = requestedRange(header, end);
  if (wanted === 'unsatisfiable' || (wanted && wanted.end < from))
    throw new DomainError('range_not_satisfiable', `The run has printed ${end} bytes, of which that part is not kept`, {
      headers: { 'Content-Range': `bytes */${end}` },
    });
  const part = wanted && { start: Math.max(wanted.start, from), end: wanted.end };
  const content = found
    ? await store.get(found.key, part)
    : readable?.content.subarray(...(part ? [part.start - from, part.end + 1 - from] : []));
  if (!content) throw notFound('The output of the run');
  return {
    content: content instanceof Uint8Array ? content : Readable.from(content, { objectMode: false }),
    from: part?.start ?? from,
    isComplete,
    ...(part && { range: `bytes ${part.start}-${part.end}/${isComplete ? end : '*'}` }),
  };
}
