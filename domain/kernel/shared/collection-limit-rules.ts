import type { Actor } from './actor.ts';
import { DomainError } from './errors.ts';
import { literalSource, matchesPattern } from '../text/pattern-rules.ts';
import { globSource } from '../text/path-pattern-rules.ts';

/** What the collections are named for that an application token reaches which is limited to projects. */
export interface CollectionNames {
  /**
   * Identifiers of the token's projects: `acme/shop` has the collections `repo:acme/shop` and `repo:acme/shop/…`, and the
   * manifests of its branches, `manifests/acme/shop:main`.
   */
  identifiers: readonly string[];
  /** Identifiers of other projects of the tenant below one of these: `acme/shop/web` has its own collections. */
  others: readonly string[];
  /** `configuration.documentCollections` of the token's projects. */
  patterns: readonly string[];
}

type Limited = Pick<Actor, 'projectIds' | 'collections'>;

/** The collection of the manifests of a branch; no branch has a colon. */
const isManifestsOf = (identifier: string, collection: string): boolean => {
  const start = `manifests/${identifier}:`;
  return collection.startsWith(start) && !collection.includes(':', start.length);
};

const isNamedFor = (identifier: string, collection: string): boolean =>
  collection === `repo:${identifier}` ||
  collection.startsWith(`repo:${identifier}/`) ||
  isManifestsOf(identifier, collection);

/** Whether an actor reaches a collection: any, unless it is limited to projects. */
export function reachesCollection({ projectIds, collections }: Limited, collection: string): boolean {
  if (projectIds === undefined) return true;
  if (!collections) return false;
  const { identifiers, others, patterns } = collections;
  // Names are at most 255 characters long, so that the longest identifier wins at once.
  const [longest] = [...identifiers, ...others]
    .filter((identifier) => isNamedFor(identifier, collection))
    .toSorted((a, b) => b.length - a.length);
  return (
    (longest !== undefined && identifiers.includes(longest)) ||
    patterns.some((pattern) => matchesPattern(pattern, collection))
  );
}

/** Throws `forbidden` for a collection that a limited actor does not reach, whether or not there is one. */
export function assertReachesCollection(actor: Limited, collection: string): void {
  if (reachesCollection(actor, collection)) return;
  const limit = 'The application token is limited to projects, and the collection';
  throw new DomainError('forbidden', `Forbidden - ${limit} ${collection} belongs to none of them`);
}

/** The collections as regular expressions of PostgreSQL: a collection is reached when one of them matches. */
export const collectionSources = ({ identifiers, others, patterns }: CollectionNames): string[] => [
  ...identifiers.map((identifier) => `^manifests/${literalSource(identifier)}:[^:]*$`),
  ...identifiers.map((identifier) => {
    const below = others.filter((other) => other.startsWith(`${identifier}/`));
    const rests = below.map((other) => literalSource(other.slice(identifier.length + 1)));
    const elsewhere = rests.length > 0 ? `(?!(${rests.join('|')})(/|$))` : '';
    return `^repo:${literalSource(identifier)}(/${elsewhere}.*)?$`;
  }),
  ...patterns.map(globSource),
];
