import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import type { WorkflowThread } from '../../activities/overrides/workflow-thread.ts';

/**
 * A thread that runs the workflow code of workers of this process, one test file after the other: starting one takes more
 * than most tests. It keeps nobody from ending.
 */
function lastingThread(): WorkflowThread {
  let started: Promise<WorkflowCreator> | undefined;
  return { enter: (start) => (started ??= startUnreferenced(start)), leave: async () => {} };
}

function startUnreferenced(start: () => Promise<WorkflowCreator>): Promise<WorkflowCreator> {
  const unref = (thread: { unref: () => void }) => thread.unref();
  process.on('worker', unref);
  return start().finally(() => process.off('worker', unref));
}

export const SHARED_THREAD = lastingThread();

/** Replays know no activities, so they do not share the other. */
export const REPLAY_THREAD = lastingThread();
