import { LRUCache } from 'lru-cache';
import { isObject, parsedJson } from '../../kernel/json/json-rules.ts';
import { lookUp, parsePath } from '../../kernel/json/json-path-rules.ts';
import { compileTemplate, type RenderBody, TemplateError } from '../../events/webhooks/body-template.ts';
import { usePatternWork } from '../../events/webhooks/pattern-work.ts';
import type { BodyForm } from '../mocks.entities.ts';
import { type CompiledStep, rootOf } from '../scenarios/compile-step.ts';
import type { Variables } from '../scenarios/step-conditions.ts';
import { ECHO_MAX_BYTES } from '../scenarios/step-rules.ts';
import type { MockRequest } from './mock-request.ts';
import { isUnstorable, storable } from './storable-text-rules.ts';

/** What templates see. */
interface TemplateContext {
  request: ReturnType<typeof rootOf>;
  state: Variables;
  /** ISO 8601. */
  now: string;
  uuid: string;
}

/** The body of a response as it is kept with its step; null: there is none, or it is too long for that. */
export interface KeptBody {
  body: Uint8Array | null;
  bodyForm: BodyForm | null;
}

/** What a step makes of a request that it answers. */
export interface StepUse {
  /** The variables of the run from now on. */
  variables: Variables;
  /** What of the response is made from the request. */
  rendered?: { headers: Record<string, string | string[]>; body?: Uint8Array };
  /** Why something of the response or a variable could not be made. */
  templateError?: string;
}

/** Captures variables and renders templates. Uses the work of patterns. */
export function useOf(
  step: CompiledStep,
  before: Variables,
  request: MockRequest,
  { now, uuid, kept }: Pick<TemplateContext, 'now' | 'uuid'> & { kept: KeptBody | undefined },
): StepUse {
  let variables = withVariables(before, step.captured(request));
  const { sets = {}, template, echo } = step.response;
  if (template !== true && echo === undefined) return { variables: withVariables(variables, sets) };
  const context: TemplateContext = { request: rootOf(request, step), state: variables, now, uuid };
  const render = (text: string) => step.texts.get(text)?.(context) ?? text;
  try {
    const rendered = Object.entries(sets).map(([name, value]) => [
      name,
      typeof value === 'string' ? render(value) : value,
    ]);
    variables = withVariables(variables, Object.fromEntries(rendered) as Variables);
    return { variables, rendered: renderedAnswer(step, context, kept) };
  } catch (error) {
    if (error instanceof TemplateError) return { variables, templateError: error.message };
    throw error;
  }
}

function renderedAnswer(
  { response: { headers = {}, template, echo }, texts }: CompiledStep,
  context: TemplateContext,
  kept: KeptBody | undefined,
): NonNullable<StepUse['rendered']> {
  const render = (text: string) => texts.get(text)?.(context) ?? text;
  const sent = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? render(value) : value.map(render),
    ]),
  );
  if (!kept?.body) return { headers: sent };
  const { body, bodyForm } = kept;
  const isTemplate = template === true && bodyForm !== null && bodyForm !== 'base64';
  const text = isTemplate ? Buffer.from(templateOf(Buffer.from(body).toString('utf8'))(context)) : Buffer.from(body);
  return { headers: sent, body: echo ? withEcho(text, echo, context) : text };
}

const VARIABLES_MAX = 200;
const VARIABLE_MAX_CHARS = 4_096;
/** Units of pattern work of a value that may become a variable, and of a character of its JSON. */
const [VALUE_UNITS, WRITTEN_UNITS] = [10, 0.5];

/** Variables are few and short: each batch of calls writes them. */
function withVariables(before: Variables, changes: Readonly<Record<string, unknown>>): Variables {
  const names = Object.keys(changes);
  if (names.length === 0) return before;
  const after: Record<string, unknown> = { ...before };
  let count = Object.keys(after).length;
  for (const name of names) {
    const isNew = !Object.hasOwn(after, name);
    if (isNew && count >= VARIABLES_MAX) continue;
    const value = changes[name];
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    usePatternWork(VALUE_UNITS + (typeof value === 'string' ? 0 : WRITTEN_UNITS * text.length));
    if (text.length > VARIABLE_MAX_CHARS || (typeof value !== 'string' && isUnstorable(text))) continue;
    after[name] = typeof value === 'string' ? storable(value) : value;
    if (isNew) count++;
  }
  return after;
}

const TEMPLATES_KEPT = 500;
const templates = new LRUCache<string, RenderBody>({ max: TEMPLATES_KEPT });

function templateOf(text: string): RenderBody {
  let template = templates.get(text);
  if (!template) templates.set(text, (template = compileTemplate(text)));
  return template;
}

/** Units of pattern work of a byte of a body that gets members of the request. */
const ECHO_BYTE_UNITS = 1;

/** A body of which members are the request's own, where it has them in the same type; texts of the path are numbers then. */
function withEcho(body: Buffer, echo: Record<string, string>, { request }: TemplateContext): Buffer {
  if (body.length > ECHO_MAX_BYTES) return body;
  usePatternWork(ECHO_BYTE_UNITS * body.length);
  const members = parsedJson(body.toString('utf8'))?.value;
  if (!isObject(members)) return body;
  for (const [name, path] of Object.entries(echo)) {
    if (!Object.hasOwn(members, name)) continue;
    const found = lookUp(request, parsePath(path) ?? []);
    const value = typeof members[name] === 'number' && isDecimal(found) ? Number(found) : found;
    if (kindOf(value) === kindOf(members[name])) members[name] = value;
  }
  const text = JSON.stringify(members);
  usePatternWork(WRITTEN_UNITS * text.length);
  return Buffer.from(text);
}

const isDecimal = (value: unknown): boolean => typeof value === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(value);
const kindOf = (value: unknown): string => (Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value);
