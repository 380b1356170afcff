/** What is kept of the output of a run. */
export interface KeptOutput {
  /** The last of what its end left. */
  outputTail: string | null;
  /** Key of all of it in the object store; null when the tail is all. */
  outputObject: string | null;
  /** The last of what it had printed when it went on. */
  outputSoFar: Uint8Array | null;
  /** How many bytes it had printed by then. */
  bytesSoFar: number | null;
  /** How many bytes it printed in all, as its end says. */
  bytes: number | null;
  hasEnded: boolean;
  /** A program printed it, whose worker may be lost, or a pipeline that was not followed to its end: nobody knows the rest. */
  isOfProgram: boolean;
}

/** A part of the output of a run, up to the last byte that is known. */
export interface ReadableOutput {
  /** Position of its first byte in all of the output. */
  from: number;
  content: Uint8Array;
  /** Nothing comes after it, and nothing is missing before it. */
  isComplete: boolean;
}

/** What can be read of an output that is not in the object store; undefined: nothing was, or will be, printed. */
export function readableOutput(kept: KeptOutput): ReadableOutput | undefined {
  const { outputTail, outputSoFar, bytesSoFar, bytes, hasEnded, isOfProgram } = kept;
  if (outputTail !== null) {
    const content = Buffer.from(outputTail);
    const from = Math.max(0, (bytes ?? content.length) - content.length);
    return { from, content, isComplete: hasEnded && bytes === content.length };
  }
  const content = outputSoFar ?? Buffer.alloc(0);
  if (hasEnded && content.length === 0) return undefined;
  const from = Math.max(0, (bytesSoFar ?? 0) - content.length);
  return { from, content, isComplete: hasEnded && !isOfProgram && from === 0 };
}

/** The last of what a run has printed, as text; null: nothing. PostgreSQL, and so the reply, has no U+0000. */
export const tailText = ({ outputTail, outputSoFar }: Pick<KeptOutput, 'outputTail' | 'outputSoFar'>): string | null =>
  outputTail ?? (outputSoFar && Buffer.from(outputSoFar).toString('utf8').replaceAll('\0', '�'));
