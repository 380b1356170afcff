import { isObject } from '../../kernel/json/json-rules.ts';
import { lookUp, MISSING, parsePath } from '../../kernel/json/json-path-rules.ts';
import { compileTemplate, type RenderBody, TemplateError } from '../../events/webhooks/body-template.ts';
import { FilterError } from '../../events/webhooks/filter-rules.ts';
import { TextTooLargeError } from '../../events/webhooks/pattern-work.ts';
import type { Unjudged } from '../serving/judged-text.ts';
import type { MockRequest } from '../serving/mock-request.ts';
import { compilePath } from './path-template-rules.ts';
import { type Condition, conditionsOf, type Variables } from './step-conditions.ts';
import { ECHO_MAX_BYTES, type RequestSchemas, type Step, type StepRequest, type StepResponse } from './step-rules.ts';
import { assertSize, compileSchemas, type ValidateRequest } from '../validate-request.ts';

/** A step without the body of its response, prepared for many calls. */
export interface CompiledStep {
  seq: number;
  request: StepRequest;
  response: Omit<StepResponse, 'body' | 'bodyBase64'>;
  times: number | null;
  /** What of the path is literal, for a look-up; undefined where a part of it is variable. */
  literalPath: string | undefined;
  /** Higher for steps that say more of the requests that they answer. */
  specificity: number;
  conditions: readonly Condition[];
  matches: (request: MockRequest, variables: Variables) => boolean;
  /** Whether a request matches, or why that is not known: no condition fails, but some cannot be judged. */
  judge: (request: MockRequest, variables: Variables) => boolean | Unjudged;
  /** Compiles, the first time, what tells what is wrong with a request that matches; undefined where nothing can be. */
  validation: (() => ValidateRequest) | undefined;
  /** Segments of a path by their names. */
  parameters: (path: string) => Record<string, string>;
  /** Variables that a request sets. */
  captured: (request: MockRequest) => Record<string, unknown>;
  /** Texts of headers and variables as templates. */
  texts: ReadonlyMap<string, RenderBody>;
}

export type StoredStepParts = Pick<Step, 'seq' | 'times'> & {
  request: StepRequest;
  response: Omit<StepResponse, 'body' | 'bodyBase64'>;
};

/** Throws `FilterError` and `TemplateError` for what `problem` refuses. */
export function compileStep({ seq, request, response, times }: StoredStepParts): CompiledStep {
  const path = compilePath(request.path);
  const conditions = conditionsOf(request, path.matches);
  const judges = conditions.map(({ judge }) => judge);
  const captures = Object.entries(request.captures ?? {}).map(([name, text]) => [name, parsePath(text) ?? []] as const);
  return {
    seq,
    request,
    response,
    times,
    literalPath: path.literal,
    specificity: path.specificity * 1_000 + criteriaOf(request),
    conditions,
    matches(called, variables) {
      for (const judge of judges) if (judge(called, variables) !== true) return false;
      return true;
    },
    judge(called, variables) {
      let known: boolean | Unjudged = true;
      for (const judge of judges) {
        const verdict = judge(called, variables);
        if (verdict === false) return false;
        if (known === true) known = verdict;
      }
      return known;
    },
    validation: response.validates && memoized(response.validates),
    parameters: path.parameters,
    captured(called) {
      if (captures.length === 0) return {};
      const root = rootOf(called, path);
      const found = captures.map(([name, segments]) => [name, lookUp(root, segments)] as const);
      return Object.fromEntries(found.filter(([, value]) => value !== MISSING));
    },
    texts: response.template ? templatesOf(response) : new Map<string, RenderBody>(),
  };
}

/** Few of the steps of a scenario may ever be asked. */
function memoized(schemas: RequestSchemas): () => ValidateRequest {
  let validate: ValidateRequest | undefined;
  return () => (validate ??= compileSchemas(schemas));
}

/**
 * Why a step cannot be used: the field and the reason. Its schemas are not compiled, since those of many steps would take
 * seconds; see `compileSchemas`.
 */
compileStep.problem = (step: Step): { field: string; detail: string } | undefined => {
  try {
    compileStep(step);
    if (step.response.validates) assertSize(step.response.validates);
    if (step.response.echo) assertEcho(step.response);
    if (step.response.template === true && step.response.bodyBase64 === undefined) {
      const { body } = step.response;
      if (body !== undefined) compileTemplate(typeof body === 'string' ? body : JSON.stringify(body));
    }
    return undefined;
  } catch (error) {
    if (error instanceof FilterError) return { field: error.path, detail: error.message };
    if (error instanceof TemplateError) return { field: 'response', detail: `template: ${error.message}` };
    throw error;
  }
};

function assertEcho({ body }: StepResponse): void {
  if (!isObject(body) || Buffer.byteLength(JSON.stringify(body)) > ECHO_MAX_BYTES)
    throw new FilterError('response/echo', `needs a body that is an object of at most ${ECHO_MAX_BYTES / 1024} KB`);
}

/** What captures and templates read of a request. */
export const rootOf = (called: MockRequest, { parameters }: Pick<CompiledStep, 'parameters'>) => ({
  method: called.method,
  url: called.target,
  path: parameters(called.path),
  query: called.query,
  headers: called.headers,
  body: bodyOf(called),
});

/** JSON that is too large to be read is a text here. */
function bodyOf({ body }: MockRequest): unknown {
  try {
    return body.map ? body.map.value : (body.text ?? null);
  } catch (error) {
    if (error instanceof TextTooLargeError) return body.text;
    throw error;
  }
}

/** How many things a step says of its requests beside the path. */
function criteriaOf({ method, query, headers, body, checks = [], requires }: StepRequest): number {
  const maps = [query, headers, requires, isObject(body) ? body : undefined];
  const members = maps.reduce((sum, map) => sum + Object.keys(map ?? {}).length, 0);
  return Math.min(999, members + checks.length + (method === '*' ? 0 : 1) + (body === undefined ? 0 : 1));
}

function templatesOf({ headers = {}, sets = {} }: Pick<StepResponse, 'headers' | 'sets'>): Map<string, RenderBody> {
  const texts = [...Object.values(headers).flat(), ...Object.values(sets)];
  return new Map(texts.flatMap((text) => (typeof text === 'string' ? [[text, compileTemplate(text)] as const] : [])));
}
