import { parseArgs } from 'node:util';
import { EngineUnavailableError } from '../workflows/launch.ts';
import { createTemporalClient } from '../workflows/temporal-client.ts';
import {
  BuildUnavailableError,
  deploymentName,
  listBuilds,
  setCurrentBuild,
} from '../workflows/temporal-deployments.ts';
import { launchError } from '../workflows/temporal-errors.ts';
import { checkEngineListens } from './dependencies.ts';
import { type CommandContext, OperatorError } from './operator-error.ts';

/** For all calls together. */
const ANSWER_MS = 10_000;

const USAGE = `Usage: npm run workers -- COMMAND
  list            builds of the workers: which is current, and how many workflows end on each
  use BUILD_ID    gives new workflows, and those that run for long, to the workers of this build; refused when none of
                  them has served a task queue that the current build serves, unless with --ignore-missing-queues
The engine is that of TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, the workers those of WORKER_DEPLOYMENT_NAME and
TASK_QUEUE_PREFIX.`;

function parse(
  args: readonly string[],
): { command: 'list' } | { command: 'use'; buildId: string; mayLackQueues: boolean } {
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { 'ignore-missing-queues': { type: 'boolean', default: false } },
    });
    const [command, buildId, ...others] = positionals;
    if (command === 'list' && buildId === undefined) return { command };
    if (command === 'use' && buildId !== undefined && others.length === 0)
      return { command, buildId, mayLackQueues: values['ignore-missing-queues'] };
  } catch (error) {
    throw new OperatorError(`${(error as Error).message}\n${USAGE}`);
  }
  throw new OperatorError(USAGE);
}

/** `npm run workers`: lists the builds of the workers, or makes one current. */
export async function workersCommand(given: readonly string[], { env }: CommandContext): Promise<unknown> {
  const args = parse(given);
  const address = env.TEMPORAL_ADDRESS;
  if (!address) throw new OperatorError('The environment variable TEMPORAL_ADDRESS is missing.');
  const name = deploymentName(env.TASK_QUEUE_PREFIX ?? '', env.WORKER_DEPLOYMENT_NAME || 'quayside');
  const noAnswer = `Temporal does not answer at ${address}.`;
  await checkEngineListens(address, noAnswer);
  const client = createTemporalClient({ address, namespace: env.TEMPORAL_NAMESPACE || 'default' });
  try {
    return await client.withDeadline(Date.now() + ANSWER_MS, async () => {
      if (args.command === 'use') await setCurrentBuild(client, name, args.buildId, args);
      return listBuilds(client, name);
    });
  } catch (error) {
    if (error instanceof BuildUnavailableError) throw new OperatorError(error.message);
    if (launchError(error) instanceof EngineUnavailableError) throw new OperatorError(noAnswer);
    throw error;
  } finally {
    await client.connection.close();
  }
}
