import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker, type WorkerOptions, bundleWorkflowCode } from '@temporalio/worker';
import type { OpenTelemetryPlugin } from '@temporalio/interceptors-opentelemetry';
import type { TaskQueue } from './registry.ts';

export const WORKFLOWS_PATH = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));

export interface FleetOptions {
  address: string;
  namespace: string;
  queuePrefix: string;
  queues: readonly TaskQueue[];
  plugins?: OpenTelemetryPlugin[];
  /** A bundle of the workflows made before; made at the start when undefined. */
  bundlePath?: string | undefined;
}

/** The workers of one process: one per task queue, over one connection. */
export interface Fleet {
  /** Resolves when all workers have stopped; rejects when one fails. */
  run: () => Promise<void>;
  /** Takes no more work, lets what is under way finish or hands it back, and makes `run` resolve. */
  stop: () => void;
}

/** What all workers share; a queue may differ. */
const SHARED = {
  // Told to stop, an activity first gets this long to finish by itself, then is cancelled and repeated elsewhere.
  shutdownGraceTime: '1 second',
  shutdownForceTime: '10 seconds',
  workflowTaskPollerBehavior: { type: 'autoscaling' },
  activityTaskPollerBehavior: { type: 'autoscaling' },
  // The workflow tasks of a worker that was killed wait this long before another one takes them; the default is 10 s.
  stickyQueueScheduleToStartTimeout: '1 second',
} satisfies Partial<WorkerOptions>;

/** Connects and makes the workers; rejects when Temporal does not answer. */
export async function createFleet(options: FleetOptions): Promise<Fleet> {
  const { address, namespace, queuePrefix, queues, plugins = [] } = options;
  const connection = await NativeConnection.connect({ address });
  const workflowBundle =
    options.bundlePath === undefined
      ? await bundleWorkflowCode({ workflowsPath: WORKFLOWS_PATH, plugins, logger: SILENT })
      : { codePath: options.bundlePath };
  const workers = await Promise.all(
    queues.map(({ taskQueue, activities, options: own }) =>
      Worker.create({
        ...SHARED,
        ...own,
        connection,
        namespace,
        plugins,
        workflowBundle,
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
    async run() {
      const running = workers.map((worker) =>
        worker.run().catch((error: unknown) => {
          stop();
          throw error;
        }),
      );
      const ended = await Promise.allSettled(running);
      await connection.close();
      const failed = ended.find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') throw failed.reason;
    },
  };
}

/** The bundler tells of its progress on every start, and of its errors by throwing. */
const SILENT = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
