import type { BodyForm } from '../mocks.entities.ts';
import type { StepRow } from '../mocks.queries.ts';
import { BODY_MAX_BYTES, type Step, STEP_MAX_BYTES } from './step-rules.ts';
import { invalidField } from '../../kernel/shared/errors.ts';

export interface StoredStep {
  seq: number;
  request: Step['request'];
  response: Omit<Step['response'], 'body' | 'bodyBase64'>;
  body: Buffer | null;
  bodyForm: BodyForm | null;
  times: number | null;
}

function bodyOf({
  body,
  bodyBase64,
}: Pick<Step['response'], 'body' | 'bodyBase64'>): Pick<StoredStep, 'body' | 'bodyForm'> {
  if (bodyBase64 !== undefined) return { body: Buffer.from(bodyBase64, 'base64'), bodyForm: 'base64' };
  if (body === undefined) return { body: null, bodyForm: null };
  if (typeof body === 'string') return { body: Buffer.from(body), bodyForm: 'text' };
  return { body: Buffer.from(JSON.stringify(body)), bodyForm: 'json' };
}

/** A step as it is stored. Throws `invalid_request` for one that is too large. @param field where the step is in the request. */
export function storedStep({ seq, request, response, times }: Step, field: (name: string) => string): StoredStep {
  const { body: _, bodyBase64: _b, ...rest } = response;
  const body = bodyOf(response);
  if ((body.body?.length ?? 0) > BODY_MAX_BYTES)
    throw invalidField(field('response/body'), `must be at most ${BODY_MAX_BYTES} bytes`);
  for (const [name, value] of [
    ['request', request],
    ['response', rest],
  ] as const)
    if (Buffer.byteLength(JSON.stringify(value)) > STEP_MAX_BYTES)
      throw invalidField(
        field(name),
        `must be at most ${STEP_MAX_BYTES} bytes of JSON, without the body of the response`,
      );
  return { seq, request, response: rest, ...body, times };
}

/** A stored step as it was given. */
export function givenStep({ seq, request, response, body, bodyForm, times }: Pick<StepRow, keyof StoredStep>): Step {
  return { seq, request, response: { ...response, ...givenBody(body, bodyForm) }, times };
}

function givenBody(body: Uint8Array | null, form: BodyForm | null): Pick<Step['response'], 'body' | 'bodyBase64'> {
  if (body === null) return {};
  const bytes = Buffer.from(body);
  if (form === 'base64') return { bodyBase64: bytes.toString('base64') };
  const text = bytes.toString('utf8');
  return { body: form === 'json' ? (JSON.parse(text) as unknown) : text };
}
