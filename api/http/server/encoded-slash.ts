import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import type { AnyRoute } from '../define-route.ts';
import { RepositoryIdentifier } from '../parameters.ts';

/** Longer paths are no mistaken identifiers. */
const SEGMENTS_MAX = 16;
/** A repository identifier has two or three segments. */
const MOST_SLASHES = 2;

interface Template {
  segments: string[];
  /** Index of the segment that is a repository identifier. */
  at: number;
  literals: number;
}

/**
 * Throws `not_found` with the path as it should be, for one in which the slashes of a repository identifier are not
 * encoded. It only looks at the path, so it reveals nothing of what exists.
 */
export type AssertEncodedSlashes = (path: string) => void;

/** Knows the paths of all routes with a repository identifier in it. */
export function encodedSlashes(routes: readonly AnyRoute[], basePath: string): AssertEncodedSlashes {
  const templates = routes
    .flatMap((route) => templateOf(route) ?? [])
    .toSorted((a, b) => b.literals - a.literals || a.segments.length - b.segments.length);
  return (path) => {
    if (!path.startsWith(basePath)) return;
    const given = path.slice(basePath.length).split('/');
    if (given.length > SEGMENTS_MAX) return;
    for (const template of templates) {
      const meant = encodedPath(template, given);
      if (meant !== undefined)
        throw new DomainError(
          'not_found',
          `No resource at ${path}; the slashes of a repository identifier are encoded in a path: ${basePath}${meant}`,
        );
    }
  };
}

function templateOf({ path, params }: AnyRoute): Template | undefined {
  const shape = (params as { shape?: Record<string, unknown> } | undefined)?.shape ?? {};
  const segments = path.split('/');
  const at = segments.findIndex((segment) => shape[segment.slice(1, -1)] === RepositoryIdentifier);
  const literals = segments.filter((segment) => !segment.startsWith('{')).length;
  return at < 0 ? undefined : { segments, at, literals };
}

/** The given segments with those of the identifier as one; undefined if they are none of this path. */
function encodedPath({ segments, at }: Template, given: readonly string[]): string | undefined {
  const slashes = given.length - segments.length;
  if (slashes < 1 || slashes > MOST_SLASHES) return undefined;
  const identifier = given.slice(at, at + slashes + 1);
  const merged = [...given.slice(0, at), identifier.join('%2F'), ...given.slice(at + slashes + 1)];
  const isThere = segments.every((segment, index) => segment.startsWith('{') || segment === merged[index]);
  return isThere && identifier.every((part) => part !== '') ? merged.join('/') : undefined;
}
