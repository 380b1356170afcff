import { parseArgs } from 'node:util';
import { createTemporalClient } from '../workflows/temporal-client.ts';
import {
  BuildUnavailableError,
  deploymentName,
  listBuilds,
  setCurrentBuild,
} from '../workflows/temporal-deployments.ts';
import { exitWith, OperatorError } from './operator-error.ts';

const USAGE = `Usage: npm run workers -- COMMAND
  list            builds of the workers: which is current, and how many workflows end on each
  use BUILD_ID    gives new workflows, and those that run for long, to the workers of this build
The engine is that of TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, the workers those of WORKER_DEPLOYMENT_NAME and
TASK_QUEUE_PREFIX.`;

async function main(): Promise<unknown> {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [command, buildId] = positionals;
  if (command !== 'list' && !(command === 'use' && buildId !== undefined)) throw new OperatorError(USAGE);
  const { env } = process;
  if (!env.TEMPORAL_ADDRESS) throw new OperatorError('The environment variable TEMPORAL_ADDRESS is missing.');
  const name = deploymentName(env.TASK_QUEUE_PREFIX ?? '', env.WORKER_DEPLOYMENT_NAME || 'quayside');
  const client = createTemporalClient({
    address: env.TEMPORAL_ADDRESS,
    namespace: env.TEMPORAL_NAMESPACE || 'default',
  });
  try {
    if (buildId !== undefined) await setCurrentBuild(client, name, buildId);
    return await listBuilds(client, name);
  } finally {
    await client.connection.close();
  }
}

try {
  console.log(JSON.stringify(await main(), null, 2));
} catch (error) {
  exitWith(error instanceof BuildUnavailableError ? new OperatorError(error.message) : error);
}
