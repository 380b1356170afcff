import { literalPath } from '../path-template-rules.ts';
import { isPart, NotTakenError, regexCriterion, valueCriterion } from './wiremock-criteria.ts';

/** Which addresses a mapping answers. */
export interface WireMockAddress {
  path: string;
  query?: Record<string, unknown>;
  isExact: boolean;
  /** The path is wider than the pattern of the mapping: segments are any. */
  isWider: boolean;
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
    return { path: literalPath(path), ...(values && { query: values }), isExact: true, isWider: false };
  }
  if (typeof urlPath === 'string') return { path: literalPath(urlPath), isExact: false, isWider: false };
  if (typeof urlPathTemplate === 'string')
    return { path: templateOf(urlPathTemplate, pathParameters), isExact: false, isWider: false };
  if (typeof urlPathPattern === 'string') return { ...pathOfPattern(urlPathPattern, 'urlPathPattern'), isExact: false };
  if (typeof urlPattern === 'string') return addressOfPattern(urlPattern);
  return { path: '/**', isExact: false, isWider: false };
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
  const wanted = isPart(parameters) ? parameters : {};
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

/** A pattern of path and query. */
function addressOfPattern(pattern: string): WireMockAddress {
  const at = pattern.search(/\\\?|\[\?\]/);
  if (at === -1) {
    // `/path.*` and `/path?.*` as people write them mean any query, too.
    return { ...pathOfPattern(pattern, 'urlPattern'), isExact: false };
  }
  const path = pathOfPattern(pattern.slice(0, at), 'urlPattern');
  const rest = pattern.slice(at).replace(/^(\\\?|\[\?\])/, '');
  if (/^\(?\.[*+]\)?\$?$/.test(rest)) return { ...path, isExact: false };
  const query = Object.fromEntries(
    rest
      .replace(/\$$/, '')
      .split('&')
      .map((pair) => {
        const [name = '', value] = pair.split(/=(.*)/s);
        if (!/^[\w.-]+$/.test(name) || value === undefined)
          throw new NotTakenError(['urlPattern'], `the part ${pair} has no counterpart`);
        return [
          name,
          /^[\w%-]*$/.test(value) ? decodeURIComponent(value) : regexCriterion(`^(?:${value})$`, ['urlPattern']),
        ];
      }),
  );
  return { ...path, query, isExact: false };
}

/** Private characters, which no path has: any text of one segment, and any text at all. */
const SEGMENT_MARK = '\uE000';
const MARK = '\uE001';

/** Any text of one segment, as people write it: `[^/]+`, `\d+`, `[a-z0-9-]*`, `\w{3}`, in brackets or not. */
const ANY_IN_SEGMENT = /\(?(?:\?<\w+>|\?:)?(?:\[[^\]]+\]|\\[dw])(?:[+*]|\{\d+(?:,\d*)?\})\)?/g;
const ANY = /\(?\.[*+]\??\)?/g;

/** A regular expression of a path as a template. Throws `NotTakenError` for one that is no mere wildcard. */
function pathOfPattern(pattern: string, member: string): { path: string; isWider: boolean } {
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
  if (/[()[\]|+?^$\\]/.test(marked) || /\{/.test(marked) || marked.includes('*'))
    throw new NotTakenError([member], `the pattern ${pattern} is more than wildcards`);
  const segments = marked.split('/').map((segment) => {
    if (segment === MARK) return '**';
    return segment.replaceAll(/[\uE000\uE001]+/g, '*');
  });
  const path = segments.join('/');
  return { path: path.startsWith('/') ? path : `/**${path === '**' ? '' : `/${path}`}`, isWider };
}
