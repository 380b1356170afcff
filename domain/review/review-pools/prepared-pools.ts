import { DomainError } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { POOL_PREPARE } from '../../delivery/flows/flow-types.ts';
import type { OfferedType } from '../../delivery/flows/runs.hooks.ts';
import { devHubs, orgWithId } from '../../orgs/crm-orgs/dev-hubs.queries.ts';
import { type OrgRow, productionOrgs } from '../../orgs/crm-orgs/crm-orgs.queries.ts';
import { whyNotDefined } from '../../delivery/sandboxes/sandbox-rules.ts';
import { isSameName } from '../../projects/environments/org-name-rules.ts';
import { projectById } from '../../projects/projects/projects.queries.ts';
import { WHY_NONE } from './pool-builder.ts';
import { type PoolRecipe, recipeOf } from './pool-recipe.schemas.ts';
import { findPool, poolByTag, type PoolRow } from './review-pools.queries.ts';

/** A pool for which the service makes orgs, how, and in which dev hub, or for sandboxes production org. */
export interface PreparedPool {
  pool: PoolRow;
  recipe: PoolRecipe;
  hub: OrgRow;
}

type Payload = Readonly<Record<string, unknown>>;
const unavailable = (detail: string) => new DomainError('flow_unavailable', detail);

/**
 * The pool that a payload names, of the run's project. What counts is its own definition, whatever the payload says. Throws
 * `flow_unavailable` where orgs cannot be made for it by the service, and `invalid_request`.
 * @param begunIn the org in which the run has begun to make orgs: it goes on there, whatever the definition says meanwhile.
 */
export async function preparedPool(
  tx: Tx,
  payload: Payload,
  projectId: string | null,
  begunIn?: string,
): Promise<PreparedPool> {
  const pool = await poolOf(tx, payload, projectId);
  const recipe = recipeOf(pool.definition);
  if (begunIn !== undefined) {
    const hub = await orgWithId(tx, begunIn);
    if (!hub) throw unavailable('The dev hub in which the run makes orgs is no longer registered');
    return { pool, recipe, hub };
  }
  const { newOrgs } = recipe;
  if (newOrgs !== 'scratch' && newOrgs !== 'sandbox') throw unavailable(WHY_NONE);
  const project = await projectById(tx, pool.projectId);
  if (!project?.remoteUrl)
    throw unavailable(
      `The project ${pool.repositoryIdentifier} has no remoteUrl, where the definition and source of its orgs are`,
    );
  const hub = await (newOrgs === 'scratch' ? hubOf(tx, recipe) : productionOf(tx, recipe));
  return { pool, recipe, hub };
}

async function productionOf(tx: Tx, { sandbox = {} }: PoolRecipe): Promise<OrgRow> {
  const why = whyNotDefined(sandbox);
  if (why !== null) throw unavailable(`The pool does not say how its sandboxes are made: ${why}`);
  const { productionUsername } = sandbox;
  const all = await productionOrgs(tx);
  const found =
    typeof productionUsername === 'string'
      ? all.filter(({ username }) => isSameName(username, productionUsername))
      : all;
  const [production, ...others] = found;
  if (!production || others.length > 0)
    throw unavailable(
      'Name the registered production org of the sandboxes as sandbox.productionUsername of the definition',
    );
  return production;
}

async function poolOf(tx: Tx, { poolId, poolTag }: Payload, projectId: string | null): Promise<PoolRow> {
  const pool =
    typeof poolId === 'string'
      ? await findPool(tx, poolId)
      : typeof poolTag === 'string' && projectId !== null
        ? await poolByTag(tx, projectId, poolTag)
        : undefined;
  if (!pool || pool.projectId !== projectId)
    throw unavailable('The payload names no pool of its repository: give repositoryIdentifier with poolId or poolTag');
  return pool;
}

async function hubOf(tx: Tx, { devHub }: PoolRecipe): Promise<OrgRow> {
  const hubs = await devHubs(tx);
  const found = devHub === undefined ? hubs : hubs.filter(({ username }) => isSameName(username, devHub));
  const [hub, ...others] = found;
  if (!hub)
    throw unavailable(
      devHub === undefined
        ? 'No dev hub is registered, in which scratch orgs are made'
        : `The org ${devHub} is not registered as a dev hub: register it, or name one that is`,
    );
  if (others.length > 0 && !hub.isDefault)
    throw unavailable('Several dev hubs are registered: name one as devHub in the definition of the pool');
  return hub;
}

/** Why the service cannot make orgs for a pool, as far as the database knows; null: it can, or another type is asked for. */
export async function whyNotPrepared(tx: Tx, { id, projectId, run }: OfferedType): Promise<string | null> {
  if (id !== POOL_PREPARE) return null;
  if (!run) return (await devHubs(tx)).length > 0 ? null : 'No dev hub is registered, in which scratch orgs are made';
  try {
    const { hub } = await preparedPool(tx, run.payload, projectId ?? null);
    if (hub.healthStatus !== 'auth_failed') return null;
    return `The org ${hub.username} refuses its credential: ${hub.healthHint ?? hub.healthError ?? ''}`.trim();
  } catch (error) {
    if (error instanceof DomainError && error.code === 'flow_unavailable') return error.message;
    throw error;
  }
}
