import { TemplateError } from '../../events/webhooks/body-template.ts';
import type { BodyForm } from '../mocks.entities.ts';
import { drawn, type Hit } from './replay.ts';
import type { Fault } from '../scenarios/step-rules.ts';

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

/** The response of a step. Throws `TemplateError` where a template names what the request does not have. */
export function composeAnswer({ step, use }: Hit, body: Buffer, bodyForm: BodyForm | null): MockAnswer {
  if (use.templateError !== undefined) throw new TemplateError(use.templateError);
  const headers = { ...step.response.headers, ...use.rendered?.headers };
  if (bodyForm !== null) headers['content-type'] ??= TYPES[bodyForm];
  const rendered = use.rendered?.body;
  return { status: step.response.status, headers, body: rendered === undefined ? body : Buffer.from(rendered) };
}

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
