import { LRUCache } from 'lru-cache';
import { isObject, parsedJson } from '../../kernel/json/json-rules.ts';
import { lookUp, parsePath } from '../../kernel/json/json-path-rules.ts';
import { compileTemplate, type RenderBody, TemplateError } from '../../events/webhooks/body-template.ts';
import type { BodyForm } from '../mocks.entities.ts';
import { drawn, type Hit, type TemplateContext } from './replay.ts';
import { ECHO_MAX_BYTES, type Fault } from '../scenarios/step-rules.ts';

/** A response of a step, as it is sent. */
export interface MockAnswer {
  status: number;
  /** By names in lower case. */
  headers: Record<string, string | string[]>;
  body: Buffer;
}

const [OF_FAULT, OF_DELAY] = [1, 2];

/** The fault of an answer, where its probability is drawn. */
export function drawnFault(seed: number, { step, hit }: Pick<Hit, 'step' | 'hit'>): Fault | undefined {
  const { fault } = step.response;
  return fault && drawn(seed, step.seq, hit, OF_FAULT) < (fault.probability ?? 1) ? fault : undefined;
}

/** How long an answer waits. */
export function drawnDelayMs(seed: number, { step, hit }: Pick<Hit, 'step' | 'hit'>): number {
  const { delayMs = 0 } = step.response;
  if (typeof delayMs === 'number') return delayMs;
  return Math.floor(delayMs.min + drawn(seed, step.seq, hit, OF_DELAY) * (delayMs.max - delayMs.min + 1));
}

const TYPES: Record<BodyForm, string> = {
  json: 'application/json',
  text: 'text/plain; charset=utf-8',
  base64: 'application/octet-stream',
};

const TEMPLATES_KEPT = 500;
const templates = new LRUCache<string, RenderBody>({ max: TEMPLATES_KEPT });

function templateOf(text: string): RenderBody {
  let template = templates.get(text);
  if (!template) templates.set(text, (template = compileTemplate(text)));
  return template;
}

/** The response of a step. Throws `TemplateError` where a template names what the request does not have. */
export function composeAnswer(
  { step, context, templateError }: Hit,
  body: Buffer,
  bodyForm: BodyForm | null,
): MockAnswer {
  if (templateError !== undefined) throw new TemplateError(templateError);
  const { status, headers = {}, template, echo } = step.response;
  const render = (text: string) => (template && context ? (step.texts.get(text)?.(context) ?? text) : text);
  const sent: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    sent[name] = [value].flat().map(render);
  }
  if (bodyForm !== null) sent['content-type'] ??= TYPES[bodyForm];
  const isTemplate = template === true && context !== undefined && bodyForm !== null && bodyForm !== 'base64';
  const rendered = isTemplate ? Buffer.from(templateOf(body.toString('utf8'))(context)) : body;
  return { status, headers: sent, body: echo && context ? withEcho(rendered, echo, context) : rendered };
}

/** A body of which members are the request's own, where it has them in the same type; texts of the path are numbers then. */
function withEcho(body: Buffer, echo: Record<string, string>, { request }: TemplateContext): Buffer {
  const members = body.length > ECHO_MAX_BYTES ? undefined : parsedJson(body.toString('utf8'))?.value;
  if (!isObject(members)) return body;
  for (const [name, path] of Object.entries(echo)) {
    if (!Object.hasOwn(members, name)) continue;
    const found = lookUp(request, parsePath(path) ?? []);
    const value = typeof members[name] === 'number' && isDecimal(found) ? Number(found) : found;
    if (kindOf(value) === kindOf(members[name])) members[name] = value;
  }
  return Buffer.from(JSON.stringify(members));
}

const isDecimal = (value: unknown): boolean => typeof value === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(value);
const kindOf = (value: unknown): string => (Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value);

/** A value that can end no header, in the bytes of UTF-8. */
export const headerValue = (text: string): string =>
  Buffer.from(text.toWellFormed().replace(/[^\P{Cc}\t]+/gu, ' '), 'utf8').toString('latin1');

/** Headers of the connection, and those by which an answer would change what browsers hold of the service itself. */
const OWN_HEADERS =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|date|content-security-policy(-report-only)?|strict-transport-security|public-key-pins.*|clear-site-data|service-worker-allowed|alt-svc|nel|report-to|reporting-endpoints|origin-agent-cluster|x-mock-(scenario|step)|x-request-id|x-content-type-options)$/;

/** Whether the service alone says what a header is. */
export const isOwnHeader = (name: string): boolean => OWN_HEADERS.test(name);

/** A cookie that only comes back to the mock server: not to the service, whose host is the same. */
export function cookieBelow(mockPath: string, cookie: string): string {
  const [pair = '', ...attributes] = cookie.split(';').map((part) => part.trim());
  const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice('path='.length) ?? '/';
  const kept = attributes.filter((attribute) => !/^(path|domain)(=|$)/i.test(attribute));
  // Browsers refuse these names with another path.
  const own = pair.replace(/^__(host|secure)-/i, '');
  return [own, ...kept, `Path=${mockPath}${path.startsWith('/') ? path : '/'}`].join('; ');
}
