import { z } from 'zod';
import type { AnyRoute } from './define-route.ts';

/**
 * The names of the query parameters of a route; undefined: it takes any, as addresses do that other systems and their
 * clients call: hooks, and queries that are open objects.
 */
export function parametersOf({ query, takesHook }: Pick<AnyRoute, 'query' | 'takesHook'>): string[] | undefined {
  if (takesHook) return undefined;
  if (query === undefined) return [];
  if (!(query instanceof z.ZodObject)) throw new Error('The query of a route is described by an object');
  const { catchall } = query.def;
  return catchall === undefined || catchall instanceof z.ZodNever ? Object.keys(query.shape) : undefined;
}

/** The parameters of a request that its route does not know, as an issue; undefined: there are none. */
export function unknownParameters(
  route: Pick<AnyRoute, 'query' | 'takesHook'>,
  given: readonly string[],
): z.core.$ZodIssue | undefined {
  if (given.length === 0) return undefined;
  const known = parametersOf(route);
  const keys = known ? given.filter((name) => !known.includes(name)) : [];
  if (keys.length === 0) return undefined;
  const message = keys.map(() => 'unknown parameter').join('\n');
  return { code: 'unrecognized_keys', keys, path: [], message, input: {} };
}
