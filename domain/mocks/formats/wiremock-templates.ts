import type { StepDraft } from './imported.ts';
import { NotTakenError } from './wiremock-criteria.ts';

type Response = StepDraft['response'];

/**
 * A response with templates of WireMock as one with templates of ours. Segments of the path that a template inserts get a
 * name in the path. Throws `NotTakenError` for what has no counterpart.
 */
export function templateOf(response: Response, path: string): { response: Response; path: string } {
  const segments = path.split('/');
  const translate = (text: string): string =>
    text.replaceAll(/\{\{\{?([^{}]*)\}?\}\}/g, (whole, expression: string) => {
      const known = looked(expression.trim(), segments);
      if (known === undefined) throw new NotTakenError([], `the template ${whole.slice(0, 100)} has no counterpart`);
      return known;
    });
  const headers = Object.entries(response.headers ?? {}).map(([name, value]): [string, string | string[]] => [
    name,
    Array.isArray(value) ? value.map(translate) : translate(value),
  ]);
  const body = response.body === undefined ? {} : { body: translated(response.body, translate) };
  const result = { ...response, ...(headers.length > 0 && { headers: Object.fromEntries(headers) }), ...body };
  return { response: { ...result, template: true }, path: segments.join('/') };
}

function translated(value: unknown, translate: (text: string) => string): unknown {
  if (typeof value === 'string') return translate(value);
  if (Array.isArray(value)) return value.map((item) => translated(item, translate));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, translated(member, translate)]));
}

const NAME = String.raw`[A-Za-z_][\w-]*`;
const PARAMETER = new RegExp(`^request\\.query\\.(${NAME})$`);
const HEADER = new RegExp(`^request\\.headers\\.(${NAME})$`);
const SEGMENT = /^request\.(?:pathSegments|path)\.\[?(\d{1,2})\]?$/;
const NAMED_SEGMENT = new RegExp(`^request\\.path\\.(${NAME})$`);
const MEMBER = new RegExp(`^jsonPath request\\.body ['"]\\$((?:\\.${NAME})+)['"]$`);

/** The look-up that an expression of Handlebars stands for. */
function looked(expression: string, segments: string[]): string | undefined {
  const [, parameter] = PARAMETER.exec(expression) ?? [];
  if (parameter !== undefined) return `{{ request.query.${parameter} }}`;
  const [, header] = HEADER.exec(expression) ?? [];
  if (header !== undefined) return `{{ request.headers.${header.toLowerCase()} }}`;
  const [, member] = MEMBER.exec(expression) ?? [];
  if (member !== undefined) return `{{ request.body${member} }}`;
  const [, index] = SEGMENT.exec(expression) ?? [];
  if (index !== undefined) return segmentAt(Number(index) + 1, segments);
  const [, name] = NAMED_SEGMENT.exec(expression) ?? [];
  if (name !== undefined && segments.includes(`{${name}}`)) return `{{ request.path.${name} }}`;
  if (expression === 'now') return '{{ now }}';
  return /^randomValue type=['"]UUID['"]$/.test(expression) ? '{{ uuid }}' : undefined;
}

/** A segment of the path by its place; one that may be any gets a name. */
function segmentAt(at: number, segments: string[]): string | undefined {
  const segment = segments[at];
  if (segment === undefined || segments.slice(0, at + 1).includes('**')) return undefined;
  if (segment === '*') segments[at] = `{segment${at - 1}}`;
  const name = /^\{(\w+)\}$/.exec(segments[at] ?? '')?.[1];
  if (name !== undefined) return `{{ request.path.${name} }}`;
  return segment.includes('*') ? undefined : decodeURIComponent(segment);
}
