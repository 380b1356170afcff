import { Worker } from '@temporalio/worker';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import type { WorkflowBundleWithSourceMapAndFilename as LoadedBundle } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';

/** The SDK gives each worker a thread for its workflows, which with its heap takes some 30 MB; here workers share one. */
export interface WorkflowThread {
  /** What makes workflows on it: of the first worker, or what `start` answers. */
  enter: (start: () => Promise<WorkflowCreator>) => Promise<WorkflowCreator>;
  /** Called when a worker that has entered has stopped. */
  leave: () => Promise<void>;
}

/** Well beyond the 10 s after which the engine gives a workflow task to another worker. */
export const BLOCKED_AFTER_MS = 30_000;

/** What runs on a thread: the same for all its workers. */
const BUNDLES = new WeakMap<WorkflowThread, Promise<LoadedBundle | undefined>>();

const calledElsewhere = async () => {};

/** A thread that ends with the last of its workers. */
export function ownThread(): WorkflowThread {
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
 * once per worker; test/activities/overrides/workflow-thread.test.ts fails when a later version does not.
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
