import { isObject } from '../../kernel/json/json-rules.ts';
import type { Resolve } from './sample-schema-rules.ts';

/** Follows references within the document, and no others. */
export const resolverOf =
  (document: unknown): Resolve =>
  (reference) => {
    if (!reference.startsWith('#/')) return undefined;
    let found: unknown = document;
    for (const segment of reference.slice(2).split('/')) {
      const name = unescaped(segment);
      if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
      found = (found as Record<string, unknown>)[name];
    }
    return found;
  };

function unescaped(segment: string): string {
  try {
    return decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return segment;
  }
}

/** References to references; more would go round. */
const REFERENCES_MAX = 10;

/** An object of the document, or the one that it refers to. */
export function partOf(given: unknown, resolve: Resolve): Record<string, unknown> | undefined {
  let found = given;
  for (let step = 0; step < REFERENCES_MAX; step++) {
    if (!isObject(found)) return undefined;
    if (typeof found.$ref !== 'string') return found;
    found = resolve(found.$ref);
  }
  return undefined;
}
