import type { TestApp } from '../../support/app.ts';

/** A valid call of one route. */
export interface Example {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
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

/** Things of one tenant that exist before a route is tried, by the names that the feature's examples use. */
export type Fixtures = BaseFixtures & Record<string, string>;

/** The examples of one feature. */
export interface FeatureExamples {
  make: (app: TestApp, base: BaseFixtures) => Promise<Fixtures>;
  /** A valid call of each of its routes that needs a credential, by operation id. */
  calls: Record<string, (fixtures: Fixtures) => Example>;
}

/** @param make makes the feature's things in the tenant of the app's owner, through the API. */
export const featureExamples = <F extends object>(
  make: (app: TestApp, base: BaseFixtures) => Promise<F>,
  calls: Record<string, (fixtures: BaseFixtures & F) => Example>,
): FeatureExamples =>
  ({
    make: async (app: TestApp, base: BaseFixtures) => ({ ...base, ...(await make(app, base)) }),
    calls,
  }) as unknown as FeatureExamples;

let made = 0;
/** A name that no other example has used. */
export const fresh = (prefix: string) => `${prefix}-${++made}`;
