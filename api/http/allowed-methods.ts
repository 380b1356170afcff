import type { AnyRoute } from './define-route.ts';

/** The methods of a path, for `Allow`; none if there is nothing at it. */
export type AllowedMethods = (path: string) => string[];

/**
 * Finds the methods of paths among those of all routes. A route with parameters only counts for values that its schema
 * accepts: `/api/webhooks/trigger` has the methods of that path, not those of `/api/webhooks/{id}`.
 */
export function allowedMethods(routes: readonly AnyRoute[], basePath: string): AllowedMethods {
  const templates = routes.map((route) => ({ route, segments: route.path.split('/') }));
  return (path) => {
    if (!path.startsWith(basePath)) return [];
    const given = path.slice(basePath.length).split('/');
    const methods = templates
      .filter(({ route, segments }) => isAt(route, segments, given))
      .flatMap(({ route: { method } }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
    return [...new Set(methods)];
  };
}

function isAt({ params }: AnyRoute, segments: readonly string[], given: readonly string[]): boolean {
  if (segments.length !== given.length) return false;
  const values: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const value = given[index] ?? '';
    if (segment.startsWith('{')) values[segment.slice(1, -1)] = decoded(value);
    else if (segment !== value) return false;
  }
  return params === undefined || params.safeParse(values).success;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
