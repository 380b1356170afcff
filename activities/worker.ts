import { basename } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { NativeConnection, type Worker, type WorkerOptions } from '@temporalio/worker';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import type { OpenTelemetryPlugin } from '@temporalio/interceptors-opentelemetry';
import { BLOCKED_AFTER_MS, ownThread, type WorkflowThread, workersOn } from './overrides/workflow-thread.ts';
import type { TaskQueue } from './registry.ts';

export interface FleetOptions {
  address: string;
  namespace: string;
  queuePrefix: string;
  queues: readonly TaskQueue[];
  /** Which build of the workers this is; undefined: they take the work of every build. */
  version?: WorkerDeploymentVersion | undefined;
  plugins?: OpenTelemetryPlugin[];
  /** The file of the bundle of the workflows. */
  bundlePath: string;
  /** Workflows may call local activities of these names; absent: of those of the queues. */
  activityNames?: readonly string[];
  /** Runs the workflow code of all workers; absent: one of the fleet's own, which ends with its last worker. */
  thread?: WorkflowThread | undefined;
  /** Polls of each queue and kind of task to begin with; absent: the five of the SDK. */
  firstPolls?: number | undefined;
}

/** The workers of one process: one per task queue, over one connection. */
export interface Fleet {
  /** Resolves when all workers have stopped; rejects when one fails, or when workflow code never ends. */
  run: () => Promise<void>;
  /** Takes no more work, lets what is under way finish or hands it back, and makes `run` resolve. */
  stop: () => void;
  /** Whether all workers ask for tasks; also while Temporal is away, since they go on by themselves. */
  isPolling: () => boolean;
}

/** What all workers share; a queue may differ. */
const SHARED = {
  // Told to stop, an activity first gets this long to finish by itself, then is cancelled and repeated elsewhere.
  shutdownGraceTime: '1 second',
  shutdownForceTime: '10 seconds',
  // The workflow tasks of a worker that was killed wait this long before another one takes them; the default is 10 s.
  stickyQueueScheduleToStartTimeout: '1 second',
} satisfies Partial<WorkerOptions>;

/** Workflows that say nothing else may run for long: they move to the build that is current. */
const VERSIONED = { useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' } as const;

/** Queues that are busy at the same time, of all that a process serves. */
const BUSY_QUEUES = 4;

/**
 * Workflows that a worker keeps in memory: as many as the SDK would for one worker, shared by the queues that are busy at
 * once.
 */
function cachedWorkflows(queues: number): number {
  const gigabytes = getHeapStatistics().heap_size_limit / 2 ** 30;
  return Math.max(50, Math.floor(((gigabytes - 0.2) * 600) / Math.min(queues, BUSY_QUEUES)));
}

/** Connects and makes the workers; rejects when Temporal does not answer. */
export async function createFleet(options: FleetOptions): Promise<Fleet> {
  const { address, namespace, queuePrefix, queues, bundlePath, version, plugins = [] } = options;
  const { activityNames = namesOf(queues), thread = ownThread(), firstPolls } = options;
  const polls = { type: 'autoscaling', ...(firstPolls && { initial: firstPolls }) } as const;
  const connection = await NativeConnection.connect({ address });
  const blocked = Promise.withResolvers<never>();
  blocked.promise.catch(() => undefined);
  const QueueWorker = workersOn({ thread, activityNames }, () =>
    blocked.reject(new Error(`Workflow code has blocked its thread for ${BLOCKED_AFTER_MS / 1_000} s`)),
  );
  const workers = await Promise.all(
    queues.map(({ taskQueue, activities, isWithoutWorkflows, options: own }) =>
      QueueWorker.create({
        ...SHARED,
        workflowTaskPollerBehavior: polls,
        activityTaskPollerBehavior: polls,
        maxCachedWorkflows: cachedWorkflows(queues.length),
        ...own,
        ...(version && { workerDeploymentOptions: { ...VERSIONED, version } }),
        connection,
        namespace,
        plugins,
        // Without a name of the build the SDK takes a digest of the whole bundle, for each worker.
        ...(!isWithoutWorkflows && { workflowBundle: { codePath: bundlePath }, buildId: basename(bundlePath) }),
        taskQueue: queuePrefix + taskQueue,
        activities,
      }),
    ),
  );
  const stop = () => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  return {
    stop,
    isPolling: () => workers.every(isPolling),
    async run() {
      const running = workers.map((worker) =>
        worker.run().catch((error: unknown) => {
          stop();
          throw error;
        }),
      );
      const ended = await Promise.race([Promise.allSettled(running), blocked.promise]);
      await connection.close();
      const failed = ended.find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') throw failed.reason;
    },
  };
}

function isPolling(worker: Worker): boolean {
  const { runState, workflowPollerState, activityPollerState } = worker.getStatus();
  return runState === 'RUNNING' && workflowPollerState !== 'FAILED' && activityPollerState !== 'FAILED';
}

const namesOf = (queues: readonly TaskQueue[]) => queues.flatMap(({ activities }) => Object.keys(activities));
