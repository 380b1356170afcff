import { z } from 'zod';
import type { Tx } from '../../../domain/unit-of-work.ts';
import { FLOW_TYPES, type FlowType } from '../../../domain/delivery/flows/flow-types.ts';
import { whyNotExecuted } from '../../../domain/delivery/flows/programs/own-means.ts';
import { runsHealth } from '../../../domain/delivery/flows/run-list.queries.ts';
import { type Commands, executorHere } from '../../../domain/delivery/flows/programs/commands-file.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { FlowHealth, FlowTypeOut } from './flow-runs.schemas.ts';

const GROUP = 'Flows';

const schemas = new Map<string, Record<string, unknown>>(
  FLOW_TYPES.map(({ id, payload }) => [id, z.toJSONSchema(payload, { io: 'input' })]),
);

async function view(tx: Tx, type: FlowType, commands: Commands): Promise<z.input<typeof FlowTypeOut>> {
  const { id, summary, category, gates, isInternal } = type;
  const executor = executorHere(type, { hasPipeline: false, commands });
  const why = await whyNotExecuted(tx, type, { hasPipeline: false, commands });
  const executors = [];
  for (const wanted of ['service', 'command', 'pipeline'] as const) {
    const reason = await whyNotExecuted(tx, type, { hasPipeline: wanted === 'pipeline', commands, wanted });
    executors.push({ executor: wanted, available: reason === null, reason });
  }
  return {
    id,
    summary,
    category,
    gates,
    isInternal,
    executor: executor ?? null,
    available: why === null,
    reason: why,
    executors,
    payloadSchema: schemas.get(id) ?? {},
  };
}

const views = (tx: Tx, commands: Commands) => Promise.all(FLOW_TYPES.map((type) => view(tx, type, commands)));

export const flowTypesRoutes = [
  defineRoute({
    operationId: 'listFlowTypes',
    method: 'get',
    path: '/api/flows/types',
    group: GROUP,
    summary: 'List flow types with their payload schemas and executors',
    description:
      'A run with a `pipeline` in its payload is executed by the git host, whatever the executor of its type.',
    roles: ANY_ROLE,
    projectScope: 'none',
    status: 200,
    response: z.array(FlowTypeOut),
    handle: (_, { tx, adapters }) => tx((work) => views(work, adapters.flows.commands)),
  }),
  defineRoute({
    operationId: 'getFlowHealth',
    method: 'get',
    path: '/api/flows/health',
    group: GROUP,
    summary: 'Get the health of flow runs',
    roles: ANY_ROLE,
    projectScope: 'row',
    status: 200,
    response: FlowHealth,
    async handle(_, { reads, tx, adapters }) {
      const health = await runsHealth(reads);
      const types = await tx((work) => views(work, adapters.flows.commands));
      const available = types.filter((type) => type.available).length;
      return {
        ...health,
        status: health.notLaunched > 0 ? ('degraded' as const) : ('ok' as const),
        types: { available, unavailable: FLOW_TYPES.length - available },
      };
    },
  }),
];
