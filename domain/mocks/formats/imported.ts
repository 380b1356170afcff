import type { z } from 'zod';
import { escapePointer } from '../../kernel/shared/errors.ts';
import type { PrefixedUpstream } from '../serving/scenario-upstreams.ts';
import { compileStep } from '../scenarios/compile-step.ts';
import { StepIn } from '../scenarios/mock-steps.schemas.ts';
import {
  BODIES_MAX_BYTES,
  BODY_MAX_BYTES,
  type MockMode,
  type Step,
  STEP_MAX_BYTES,
  STEPS_MAX,
  type Unmatched,
} from '../scenarios/step-rules.ts';

/** What of an import was not taken, or not as it was written. */
export interface NotTaken {
  /** A JSON pointer into the imported document; empty for the document as a whole. */
  pointer: string;
  reason: string;
}

/** A document that cannot be imported at all; the message is for whoever sent it. */
export class FormatError extends Error {}

/** What a document says of the scenario itself. */
export interface ImportedScenario {
  description?: string | undefined;
  mode: MockMode;
  seed?: number | undefined;
  upstream?: string | undefined;
  upstreams?: readonly PrefixedUpstream[] | undefined;
  unmatched?: Unmatched | undefined;
}

export interface Imported {
  scenario: ImportedScenario;
  steps: Step[];
  notTaken: NotTaken[];
}

/** A step as a format gives it, before it is checked: of unknown origin. */
export type StepDraft = z.input<typeof StepIn>;

type Path = readonly (string | number)[];

/** More would make a reply that nobody reads. */
const NOT_TAKEN_MAX = 500;

/** Collects the steps of an import, checks them as those of clients are, and what is not taken. */
export interface ImportedSteps {
  /** @param path of what became the step. @returns whether it was taken. */
  add: (draft: StepDraft, path: Path) => boolean;
  /** @param path segments of a JSON pointer. */
  skip: (path: Path, reason: string) => void;
  imported: (scenario: ImportedScenario) => Imported;
}

export function collectSteps(): ImportedSteps {
  const steps: Step[] = [];
  const notTaken: NotTaken[] = [];
  let skipped = 0;
  let bodyBytes = 0;
  const skip = (path: Path, reason: string): void => {
    skipped++;
    if (notTaken.length < NOT_TAKEN_MAX) notTaken.push({ pointer: pointerOf(path), reason });
  };
  const excess = (step: Omit<Step, 'seq'>): string | undefined => {
    if (steps.length >= STEPS_MAX) return `a scenario has at most ${STEPS_MAX} steps`;
    const { body: _body, bodyBase64: _bytes, ...response } = step.response;
    for (const [what, value] of [
      ['the request', step.request],
      ['the response without its body', response],
    ] as const)
      if (Buffer.byteLength(JSON.stringify(value)) > STEP_MAX_BYTES)
        return `${what} is larger than ${STEP_MAX_BYTES / 1024} KB`;
    const size = sizeOfBody(step.response);
    if (size > BODY_MAX_BYTES) return `the body is larger than ${BODY_MAX_BYTES / 1024 / 1024} MB`;
    if (bodyBytes + size > BODIES_MAX_BYTES)
      return `bodies of a scenario have at most ${BODIES_MAX_BYTES / 1024 / 1024} MB`;
    bodyBytes += size;
    return undefined;
  };
  const problemOf = (step: Step): string | undefined => {
    const problem = compileStep.problem(step);
    return problem ? `${problem.field}: ${problem.detail}` : excess(step);
  };
  return {
    skip,
    add(draft, path) {
      const parsed = StepIn.safeParse(draft);
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        skip(path, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not a step'}`);
        return false;
      }
      const last = steps.at(-1)?.seq ?? 0;
      const { seq = last + 1, ...step } = parsed.data;
      const reason = seq > last ? problemOf({ seq, ...step }) : 'seq: must be more than that of the step before';
      if (reason === undefined) steps.push({ seq, ...step });
      else skip(path, reason);
      return reason === undefined;
    },
    imported: (scenario) => ({
      scenario,
      steps,
      notTaken:
        skipped > notTaken.length
          ? [...notTaken, { pointer: '', reason: `and ${skipped - notTaken.length} more` }]
          : notTaken,
    }),
  };
}

/** Bytes of the body of a response. */
export function sizeOfBody({ body, bodyBase64 }: { body?: unknown; bodyBase64?: string | undefined }): number {
  if (bodyBase64 !== undefined) return Buffer.byteLength(bodyBase64, 'base64');
  if (body === undefined) return 0;
  return Buffer.byteLength(typeof body === 'string' ? body : JSON.stringify(body));
}

export const pointerOf = (path: Path): string => path.map((segment) => `/${escapePointer(String(segment))}`).join('');

/** Parses JSON. Throws `FormatError`. @param what begins the sentence. */
export function readJson(content: string, what: string): unknown {
  try {
    return JSON.parse(content.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new FormatError(`${what} is not JSON: ${(error as Error).message}`);
  }
}

/** Checks a document by a schema. Throws `FormatError` with the first place that is at fault. */
export function checked<S extends z.ZodType>(schema: S, value: unknown, what: string): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const pointer = pointerOf((issue?.path ?? []).map(String));
  throw new FormatError(`${what}: ${pointer === '' ? 'the document' : pointer}: ${issue?.message ?? 'is malformed'}`);
}
