import { basename } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import type { WorkflowBundleWithSourceMapAndFilename as LoadedBundle } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import type { OpenTelemetryPlugin } from '@temporalio/interceptors-opentelemetry';
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

/** The SDK gives each worker a thread for its workflows, which with its heap takes some 30 MB; here workers share one. */
export interface WorkflowThread {
  /** What makes workflows on it: of the first worker, or what `start` answers. */
  enter: (start: () => Promise<WorkflowCreator>) => Promise<WorkflowCreator>;
  /** Called when a worker that has entered has stopped. */
  leave: () => Promise<void>;
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

/** Well beyond the 10 s after which the engine gives a workflow task to another worker. */
const BLOCKED_AFTER_MS = 30_000;

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

/** What runs on a thread: the same for all its workers. */
const BUNDLES = new WeakMap<WorkflowThread, Promise<LoadedBundle | undefined>>();

const calledElsewhere = async () => {};

function ownThread(): WorkflowThread {
  let started: Promise<WorkflowCreator> | undefined;
  let workers = 0;
  return {
    async enter(start) {
      workers++;
      return (started ??= start());
    },
    async leave() {
      workers--;
      if (workers === 0) await (await started)?.destroy();
    },
  };
}

/**
 * A class of workers whose workflow code runs on the given thread. Overrides what the SDK (1.24.0) declares protected and calls
 * once per worker; test/activities/workflow-thread.test.ts fails when a later version does not.
 *
 * The SDK also bounds each call into workflow code by a watchdog, which `node:vm` starts as a thread of the operating
 * system, some ten times per workflow; here the main thread watches instead.
 * @param options.activityNames the thread only checks that a local activity has one of these names.
 * @param onBlocked called when an activation has not ended in time: its code, which is ours, never yields.
 */
export function workersOn(
  { thread, activityNames }: { thread: WorkflowThread; activityNames: readonly string[] },
  onBlocked: () => void,
): typeof Worker {
  const watched = async <T>(activation: Promise<T>): Promise<T> => {
    const timer = setTimeout(onBlocked, BLOCKED_AFTER_MS);
    try {
      return await activation;
    } finally {
      clearTimeout(timer);
    }
  };
  return class extends Worker {
    /** The SDK reads, compiles and runs the bundle for each worker, so that debuggers find it; once is enough. */
    protected static override async getOrCreateBundle(
      ...given: Parameters<typeof Worker.getOrCreateBundle>
    ): Promise<LoadedBundle | undefined> {
      if (!given[0].workflowBundle) return undefined;
      const bundle = BUNDLES.get(thread) ?? super.getOrCreateBundle(...given);
      BUNDLES.set(thread, bundle);
      bundle.catch(() => BUNDLES.delete(thread));
      return bundle;
    }

    protected static override async createWorkflowCreator(
      ...[bundle, options, logger]: Parameters<typeof Worker.createWorkflowCreator>
    ): Promise<WorkflowCreator> {
      const unwatched = {
        ...options,
        activities: new Map([...activityNames.map((name) => [name, calledElsewhere] as const), ...options.activities]),
        // `node:vm` takes undefined for no limit.
        isolateExecutionTimeoutMs: undefined as unknown as number,
      } satisfies typeof options;
      const creator = await thread.enter(() => super.createWorkflowCreator(bundle, unwatched, logger));
      return {
        async createWorkflow(given) {
          const workflow = await watched(creator.createWorkflow(given));
          const activate = workflow.activate.bind(workflow);
          workflow.activate = (activation) => watched(activate(activation));
          return workflow;
        },
        destroy: () => thread.leave(),
      };
    }
  };
}
