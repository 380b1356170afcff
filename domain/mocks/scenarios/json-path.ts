import { compile, JSONPathRecursionLimitError } from 'json-p3';
import { isObject } from '../../kernel/json/json-rules.ts';
import { FilterError } from '../../events/webhooks/filter-rules.ts';
import { usePatternWork } from '../../events/webhooks/pattern-work.ts';
import { UnjudgedError } from '../serving/judged-text.ts';

const PATH_MAX = 300;
/** Each multiplies what a path finds, also the same value (`[*,*][*,*]`). */
const COMMAS_MAX = 3;
const QUOTED = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g;

/**
 * A JSONPath (RFC 9535), prepared for many texts: what it finds in JSON of so many values, which uses the work of patterns.
 * It looks at each value a few times at most: one descent; filters without descents, patterns, and queries from the root,
 * which would be asked of each value anew. Throws `FilterError` for others, and `UnjudgedError` for JSON that is too deep.
 */
export function compileJsonPath(text: unknown, path: string): (json: { value: unknown; values: number }) => unknown[] {
  if (typeof text !== 'string' || text.length > PATH_MAX)
    throw new FilterError(path, `must be a JSONPath of at most ${PATH_MAX} characters`);
  const bare = text.replaceAll(QUOTED, '""');
  const isPlain = bare.split('..').length <= 2 && !/\?.*(?:\.\.|\$)|\b(?:match|search)\s*\(/.test(bare);
  if (!isPlain || bare.split('?').length > 3)
    throw new FilterError(
      path,
      'descends (..) once, outside of filters, and has at most two filters, without patterns and without $',
    );
  if (bare.split(',').length > COMMAS_MAX + 1) throw new FilterError(path, `has at most ${COMMAS_MAX} commas`);
  const find = jsonPath(text, path);
  const units = pathUnits(bare);
  return ({ value, values }) => {
    usePatternWork(units.each + units.ofValue * values);
    return foundIn(value, find);
  };
}

/**
 * Units of pattern work of a path: for one that names a single value the same for each text, for others by the values of
 * the text. What looks at all values below costs most; each comma may double what is found.
 */
function pathUnits(path: string): { each: number; ofValue: number } {
  const count = (part: RegExp) => path.match(part)?.length ?? 0;
  const often = 2 ** count(/,/g);
  const names = count(/[.[]/g) * often;
  const wide = count(/[*?@:]/g) + 2 * count(/\.\./g);
  return { each: 50 * names, ofValue: wide === 0 ? 0 : (100 * wide + 20 * names) * often };
}

/** A text with more levels than a path descends is not judged. */
function foundIn(json: unknown, find: (json: unknown) => unknown[]): unknown[] {
  try {
    return find(json);
  } catch (error) {
    if (error instanceof JSONPathRecursionLimitError) throw new UnjudgedError('TOO_LARGE');
    throw error;
  }
}

/**
 * A JSONPath as Jayway, which other mock servers use, reads it: a filter is asked of the elements of a list, and of an
 * object itself, where the standard asks it of the object's members.
 */
function jsonPath(text: string, path: string): (json: unknown) => unknown[] {
  const [first = '', ...filtered] = text.split(/(?=\[\?)/);
  const start = compiled(first.endsWith('..') ? `${first}*` : first, path);
  const steps = filtered.map((part) => compiled(`$${part}`, path));
  return (json) => {
    const begun = [...start.query(json as never).values()] as unknown[];
    if (first.endsWith('..')) begun.push(json);
    return steps.reduce<unknown[]>(
      (values, step) =>
        values.flatMap((value) =>
          Array.isArray(value) || isObject(value)
            ? [...step.query((Array.isArray(value) ? value : [value]) as never).values()]
            : [],
        ),
      first.endsWith('..') ? begun.filter((value) => isObject(value)) : begun,
    );
  };
}

function compiled(path: string, at: string) {
  try {
    return compile(path);
  } catch (error) {
    throw new FilterError(at, `is not a JSONPath (RFC 9535): ${(error as Error).message}`);
  }
}
