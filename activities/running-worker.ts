import type { OpenTelemetryPlugin } from '@temporalio/interceptors-opentelemetry';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Outages } from '../domain/kernel/system/outages.ts';
import { EngineUnavailableError } from '../workflows/launch.ts';
import { SYSTEM_QUEUE } from '../workflows/queues.contract.ts';
import { createTemporalClient } from '../workflows/temporal-client.ts';
import { deploymentName } from '../workflows/temporal-deployments.ts';
import { temporalDependency } from '../workflows/temporal-dependency.ts';
import { temporalLaunch } from '../workflows/temporal-launch.ts';
import { isEngineAway } from '../workflows/temporal-errors.ts';
import { ensureSearchAttributes } from '../workflows/temporal-search-attributes.ts';
import { createBackend, createWorkerBackend } from './backend.ts';
import type { WorkerConfig } from './config.ts';
import { workerQueues } from './registry.ts';
import { startSweeper } from './start-sweeper.ts';
import type { WorkflowThread } from './overrides/workflow-thread.ts';
import { createFleet } from './worker.ts';
import { bundleFolder, ensureBundle } from './workflow-bundle.ts';

export interface WorkerParts {
  config: WorkerConfig;
  log: Logger;
  outages: Outages;
  /** Carry traces through Temporal. */
  plugins?: OpenTelemetryPlugin[];
  /** Runs the workflow code; absent: a thread of its own. */
  thread?: WorkflowThread;
  /** First polls of each queue, as `FleetOptions` has them. */
  firstPolls?: number;
}

/** A worker that takes tasks of its queues. */
export interface RunningWorker {
  /** The names of its task queues that have workflows. */
  queues: readonly string[];
  metrics: Registry;
  /** Whether it asks for tasks of all queues. */
  isPolling: () => boolean;
  /** Has the sweeper run when this worker serves its queue. */
  startSweeping: () => Promise<void>;
  /** Resolves when it has stopped; rejects when it fails. */
  ended: Promise<void>;
  /** Takes no more work, waits for what is under way, and closes its connections. */
  stop: () => Promise<void>;
}

/**
 * Starts the worker of the configured queues. Throws `EngineUnavailableError` when Temporal does not answer, `ConfigError`
 * for a queue that is none, `SearchAttributesError` for a namespace that cannot be used.
 */
export async function runWorker({ config, log, outages, plugins = [], ...own }: WorkerParts): Promise<RunningWorker> {
  const engine = { address: config.TEMPORAL_ADDRESS, namespace: config.TEMPORAL_NAMESPACE, plugins };
  const client = createTemporalClient({ ...engine, pace: config.SERVICE_PACE });
  const attributes = await ensureSearchAttributes(client).catch(async (error: unknown) => {
    await client.connection.close();
    throw isEngineAway(error) ? new EngineUnavailableError(unanswered(config)) : error;
  });
  if (attributes === 'unchecked') log.warn('the search attributes of the namespace could not be listed');
  outages.watch(temporalDependency(client, config.TEMPORAL_ADDRESS));
  const onEngineAway = outages.reporter('temporal');
  const launch = temporalLaunch(client, { queuePrefix: config.TASK_QUEUE_PREFIX, log, onAway: onEngineAway });
  const { deps, close } = createWorkerBackend(createBackend({ config, launch, log, outages }));
  const { queues, activityNames } = workerQueues(deps, config.queues);
  const version = buildOf(config);
  const fleet = await createFleet({
    ...engine,
    queuePrefix: config.TASK_QUEUE_PREFIX,
    queues,
    activityNames,
    thread: own.thread,
    firstPolls: own.firstPolls,
    bundlePath: await ensureBundle({ folder: bundleFolder(config), isTraced: plugins.length > 0 }),
    version,
  });
  const ended = fleet.run();
  let sweeper: { stop: () => void } | undefined;
  return {
    queues: queues.filter(({ isWithoutWorkflows }) => !isWithoutWorkflows).map(({ taskQueue }) => taskQueue),
    metrics: deps.metrics,
    isPolling: fleet.isPolling,
    async startSweeping() {
      if (!queues.some(({ taskQueue }) => taskQueue === SYSTEM_QUEUE)) return;
      sweeper = await startSweeper(client, config.TASK_QUEUE_PREFIX, log, {
        pace: config.SERVICE_PACE,
        build: version,
        onAway: onEngineAway,
      });
    },
    ended,
    async stop() {
      fleet.stop();
      sweeper?.stop();
      await ended;
      await Promise.all([close(), client.connection.close()]);
    },
  };
}

const unanswered = ({ TEMPORAL_ADDRESS }: WorkerConfig) =>
  `Temporal does not answer at ${TEMPORAL_ADDRESS}, the address in TEMPORAL_ADDRESS: a worker starts when it does.`;

const buildOf = ({ TASK_QUEUE_PREFIX, WORKER_DEPLOYMENT_NAME, WORKER_BUILD_ID: buildId }: WorkerConfig) =>
  buildId === undefined
    ? undefined
    : { deploymentName: deploymentName(TASK_QUEUE_PREFIX, WORKER_DEPLOYMENT_NAME), buildId };
