import { matchesPattern } from '../../kernel/text/pattern-rules.ts';
import { usePatternWork } from '../../events/webhooks/pattern-work.ts';

/** Which paths a step answers, prepared for many of them. */
export interface PathTemplate {
  /** The whole path, where nothing in it is variable. */
  literal: string | undefined;
  /** Linear in template × path; uses the work of patterns. */
  matches: (path: string) => boolean;
  /** The segments by their names in the template. */
  parameters: (path: string) => Record<string, string>;
  /** Higher for what says more: literal segments first, then named ones. */
  specificity: number;
}

const PARAMETER = /^\{([A-Za-z_]\w{0,99})\}$/;

/** Whether a segment of a template is variable and has a name: `{id}`. */
export const isParameter = (segment: string): boolean => PARAMETER.test(segment);

/** The names of the segments of a template that have one. */
export const parameterNames = (template: string): Set<string> =>
  new Set(template.split('/').flatMap((segment) => PARAMETER.exec(segment)?.[1] ?? []));

const SEGMENTS_MAX = 100;
/** Units of pattern work for a character of the template and one of the path. */
const WALK_UNITS = 0.05;

/** Why a text is no template of a path; undefined for a good one. */
export function pathProblem(template: string): string | undefined {
  if (!template.startsWith('/')) return 'must begin with /';
  if (/[?#\s\p{Cc}]/u.test(template)) return 'must have no ?, #, white space or control characters';
  const segments = template.slice(1).split('/');
  if (segments.length > SEGMENTS_MAX) return `must have at most ${SEGMENTS_MAX} segments`;
  const [first, last] = [segments.indexOf('**'), segments.lastIndexOf('**')];
  for (const [index, segment] of segments.entries()) {
    if (segment !== '**' && segment.includes('**')) return '** must be a segment of its own';
    if (/[{}]/.test(segment) && !isParameter(segment)) return '{name} must be a segment of its own';
    if (isParameter(segment) && index > first && index < last) return 'a {name} cannot be between two **';
  }
  return undefined;
}

/** @param template without a problem; see `pathProblem`. */
export function compilePath(template: string): PathTemplate {
  const segments = template.slice(1).split('/');
  const named = segments.flatMap((segment, index) => {
    const name = PARAMETER.exec(segment)?.[1];
    return name === undefined ? [] : [{ name, index, fromEnd: segments.length - index }];
  });
  const across = segments.indexOf('**');
  if (named.length === 0 && !template.includes('*')) {
    const literal = decodedPath(template);
    return {
      literal,
      matches: (path) => path === literal,
      parameters: () => ({}),
      specificity: specificityOf(segments),
    };
  }
  const glob = segments.map((segment) => (isParameter(segment) ? '*' : decodedPath(segment))).join('/');
  const [prefix = ''] = `/${glob}`.split('*');
  const segmentOf = (given: readonly string[], { index, fromEnd }: { index: number; fromEnd: number }): string =>
    (across === -1 || index < across ? given[index] : given[given.length - fromEnd]) ?? '';
  return {
    literal: undefined,
    matches(path) {
      if (!path.startsWith(prefix)) return false;
      usePatternWork(WALK_UNITS * glob.length * path.length);
      if (!matchesPattern(`/${glob}`, path)) return false;
      const given = path.slice(1).split('/');
      return named.every((place) => segmentOf(given, place) !== '');
    },
    parameters(path) {
      const given = path.slice(1).split('/');
      return Object.fromEntries(named.map((place) => [place.name, segmentOf(given, place)]));
    },
    specificity: specificityOf(segments),
  };
}

function specificityOf(segments: readonly string[]): number {
  let value = segments.includes('**') ? 0 : 1_000_000;
  for (const segment of segments) {
    if (segment === '**') continue;
    if (!/[*{]/.test(segment)) value += 10_000;
    else value += isParameter(segment) ? 10 : segment === '*' ? 5 : 100;
  }
  return value;
}

/**
 * A path without percent-encoding, so that spellings of one path are equal. An encoded slash stays encoded: it parts no
 * segments.
 */
export function decodedPath(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return path
      .split(/(%2f)/i)
      .map((part) => (/^%2f$/i.test(part) ? '%2F' : decodeURIComponent(part)))
      .join('');
  } catch {
    return path;
  }
}

/** A path as the literal one of a step: what would be a pattern there is percent-encoded. */
export const literalPath = (path: string): string =>
  path.replaceAll(/[*{}\s]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
