import { type Commands, executorHere } from '../../delivery/flows/programs/commands-file.ts';
import type { ExecutorName } from '../../delivery/flows/programs/executor-rules.ts';
import type { WantedExecutor } from '../../projects/policies/executor-policy-rules.ts';
import { flowType, POOL_PREPARE } from '../../delivery/flows/flow-types.ts';
import { type Warning, warning } from '../../kernel/shared/warning-rules.ts';
import { newOrgsOf } from './pool-recipe.schemas.ts';
import type { PoolRow } from './review-pools.queries.ts';

type Builder = Extract<ExecutorName, 'cicd' | 'command' | 'activity'>;

/** What a definition has its orgs made by; undefined: a pipeline, or whatever there is. */
export function wantedBuilder(definition: PoolRow['definition']): WantedExecutor | undefined {
  if (definition.pipeline !== undefined) return undefined;
  const newOrgs = newOrgsOf(definition);
  return newOrgs === 'scratch' || newOrgs === 'sandbox' ? 'service' : newOrgs;
}

/** What makes the orgs of a pool: the pipeline of its definition, the operator's command, or the service; null: nothing here does. */
export function builderOf({ definition }: Pick<PoolRow, 'definition'>, commands: Commands): Builder | null {
  const type = flowType(POOL_PREPARE);
  const wanted = wantedBuilder(definition);
  const executor = type && executorHere(type, { hasPipeline: definition.pipeline !== undefined, commands, wanted });
  if (executor === 'activity') return wanted === 'service' ? executor : null;
  return executor === 'cicd' || executor === 'command' ? executor : null;
}

/** Why nothing makes orgs for a pool whose definition does not say how. */
export const WHY_NONE =
  'Nothing here makes orgs for the pool: have the service make them (`newOrgs` in its definition), name a `pipeline` there, have the operator add pool-prepare to the list of commands (COMMANDS_FILE), or register orgs yourself';

/** Why nothing prepares orgs of a pool that is to have some; null where something does. */
export const whyNotBuilt = (pool: Pick<PoolRow, 'definition' | 'isActive'>, commands: Commands): string | null =>
  pool.isActive && builderOf(pool, commands) === null ? WHY_NONE : null;

/** What is suspicious about a pool. */
export function poolWarnings(pool: PoolRow, commands: Commands): Warning[] {
  const why = whyNotBuilt(pool, commands);
  return why === null ? [] : [warning('no_builder', ['definition'], why)];
}
