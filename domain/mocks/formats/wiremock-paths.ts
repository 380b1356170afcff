import { isObject } from '../../kernel/json/json-rules.ts';
import { literalPath } from '../scenarios/path-template-rules.ts';
import type { RequestCheck } from '../scenarios/step-rules.ts';
import { usable } from './wiremock-checks.ts';
import { NotTakenError, valueCriterion } from './wiremock-criteria.ts';

/** Which addresses a mapping answers. */
export interface WireMockAddress {
  path: string;
  query?: Record<string, unknown>;
  isExact: boolean;
  /** What the path is wider than. */
  checks?: RequestCheck[];
}

type Part = Record<string, unknown>;

/** The address of a mapping's request, by the one of five members that says it. Throws `NotTakenError`. */
export function addressOf({
  url,
  urlPath,
  urlPattern,
  urlPathPattern,
  urlPathTemplate,
  pathParameters,
}: Part): WireMockAddress {
  if (typeof url === 'string') {
    const [path = '/', ...query] = url.split('?');
    const values = queryOf(query.join('?'));
    return { path: literalPath(path), ...(values && { query: values }), isExact: true };
  }
  if (typeof urlPath === 'string') return { path: literalPath(urlPath), isExact: false };
  if (typeof urlPathTemplate === 'string') return { path: templateOf(urlPathTemplate, pathParameters), isExact: false };
  if (typeof urlPathPattern === 'string') return addressOfPattern('path', urlPathPattern, 'urlPathPattern');
  if (typeof urlPattern === 'string') return addressOfPattern('url', urlPattern, 'urlPattern');
  return { path: '/**', isExact: false };
}

function queryOf(text: string): Record<string, string | string[]> | undefined {
  const parameters = new URLSearchParams(text);
  const names = [...new Set(parameters.keys())];
  if (names.length === 0) return undefined;
  return Object.fromEntries(
    names.map((name) => {
      const values = parameters.getAll(name);
      return [name, values.length > 1 ? values : (values[0] ?? '')];
    }),
  );
}

/** `/contacts/{id}`, in which parameters that must have one value are that value. */
function templateOf(template: string, parameters: unknown): string {
  const wanted = isObject(parameters) ? parameters : {};
  return template
    .split('/')
    .map((segment) => {
      const name = /^\{([A-Za-z_]\w*)\}$/.exec(segment)?.[1];
      if (name === undefined)
        return segment.includes('{') ? segment.replaceAll(/\{[^{}]*\}/g, '*') : literalPath(segment);
      if (!Object.hasOwn(wanted, name)) return segment;
      const value = valueCriterion(wanted[name], ['pathParameters', name]);
      if (typeof value === 'string') return literalPath(value);
      throw new NotTakenError(['pathParameters', name], 'only equalTo has a counterpart');
    })
    .join('/');
}

/** A pattern of the path, or of path and query: as a template as far as it is one, and as what is asked of the request. */
function addressOfPattern(of: 'path' | 'url', pattern: string, member: string): WireMockAddress {
  const mark = of === 'url' ? pattern.search(/\\\?|\[\?\]/) : -1;
  const template = pathOfPattern(mark === -1 ? pattern : pattern.slice(0, mark));
  const isWhole = of === 'path' && template && !template.isWider;
  const check = { of, is: { matches: pattern.replace(/^\^/, '').replace(/(?<!\\)\$$/, '') } };
  return {
    path: template?.path ?? '/**',
    isExact: false,
    ...(!isWhole && { checks: [usable(check, [member])] }),
  };
}

/** Private characters, which no path has: any text of one segment, and any text at all. */
const SEGMENT_MARK = '\uE000';
const MARK = '\uE001';

/** Any text of one segment, as people write it: `[^/]+`, `\d+`, `[a-z0-9-]*`, `\w{3}`, in brackets or not. */
const ANY_IN_SEGMENT = /\(?(?:\?<\w+>|\?:)?(?:\[[^\]]+\]|\\[dw])(?:[+*]|\{\d+(?:,\d*)?\})\)?/g;
const ANY = /\(?\.[*+]\??\)?/g;

/** A regular expression of a path as a template, which may be wider; undefined for one that is no mere wildcard. */
function pathOfPattern(pattern: string): { path: string; isWider: boolean } | undefined {
  const text = pattern.replace(/^\^/, '').replace(/\$$/, '');
  let isWider = false;
  // A slash in brackets parts no segments.
  const marked = text
    .replaceAll(ANY_IN_SEGMENT, (found) => {
      isWider ||= !/\[\^\/\]\+/.test(found);
      return SEGMENT_MARK;
    })
    .replaceAll(ANY, MARK)
    .replaceAll(/\\([^\w\s])/g, (_all, char: string) => (char === '*' ? '%2A' : char));
  if (/[()[\]|+?^$\\]/.test(marked) || /\{/.test(marked) || marked.includes('*')) return undefined;
  const segments = marked.split('/').map((segment) => {
    if (segment === MARK) return '**';
    return segment.replaceAll(/[\uE000\uE001]+/g, '*');
  });
  const path = segments.join('/');
  return { path: path.startsWith('/') ? path : `/**${path === '**' ? '' : `/${path}`}`, isWider };
}
