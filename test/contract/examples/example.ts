import type { TestApp } from '../../support/app.ts';

/** A valid call of one route. */
export interface Example {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  /** Fields of an HTML form, instead of `body`. */
  form?: Record<string, string>;
  /** A body that is no JSON, instead of `body`. */
  bytes?: string;
  headers?: Record<string, string>;
  /** The reply that the example gets; the route's own status when absent. */
  status?: number;
  /** What another tenant gets where the path holds a name that anyone may use; 404 when absent. */
  strangersStatus?: number;
}

/** What the examples of every feature may name: a project of the tenant, with an environment for releases. */
export interface BaseFixtures {
  repositoryIdentifier: string;
  environmentId: string;
}

/** The examples of one feature. */
export interface FeatureExamples {
  /** Ids of its operations. */
  operations: readonly string[];
  /** Makes the feature's things in the tenant of the app's owner, through the API. */
  make: (app: TestApp, base: BaseFixtures) => Promise<FeatureCalls>;
}

export interface FeatureCalls {
  /** Ids and names of the things that were made. */
  things: readonly string[];
  /** A valid call of an operation. */
  of: (operation: string) => Example;
}

/** @param calls a valid call of each operation, by its id. */
export const featureExamples = <F extends Record<string, string>>(
  make: (app: TestApp, base: BaseFixtures) => Promise<F>,
  calls: Record<string, (fixtures: BaseFixtures & F) => Example>,
): FeatureExamples => ({
  operations: Object.keys(calls),
  async make(app, base) {
    const things = await make(app, base);
    return {
      things: Object.values(things),
      of(operation) {
        const call = calls[operation];
        if (!call) throw new Error(`there is no example of ${operation}`);
        return call({ ...base, ...things });
      },
    };
  },
});

const prefixes = new Map<string, string>();

/** A name that no other example has used; the reference shows the prefix alone. */
export function fresh(prefix: string): string {
  const name = `${prefix}-${prefixes.size + 1}`;
  prefixes.set(name, prefix);
  return name;
}

/** The prefix of a name made by `fresh`. */
export const prefixOf = (name: string): string | undefined => prefixes.get(name);
