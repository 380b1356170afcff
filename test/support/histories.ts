import { readFileSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';
import { workersOn } from '../../activities/overrides/workflow-thread.ts';
import './temporal-core.ts';
import { REPLAY_THREAD } from './workflow-thread.ts';

const ReplayWorker = workersOn({ thread: REPLAY_THREAD, activityNames: [] }, () => undefined);

const fileOf = (name: string) => new URL(`../workflows/histories/${name}.json`, import.meta.url);

/** Replays a recorded history with the workflows of today; rejects when they would do something else. */
export const replay = (name: string): Promise<void> => replayFile(fileOf(name));

export async function replayFile(file: string | URL): Promise<void> {
  const workflowBundle = { codePath: process.env.QS_TEST_BUNDLE ?? '' };
  const history = JSON.parse(readFileSync(file, 'utf8')) as {
    events: [{ workflowExecutionStartedEventAttributes: { workflowId: string } }];
  };
  const { workflowId } = history.events[0].workflowExecutionStartedEventAttributes;
  try {
    await ReplayWorker.runReplayHistory({ workflowBundle }, history, workflowId);
  } finally {
    // Replays run on the main thread: the SDK's hook on its promises fails for those of WebCrypto in tests that follow.
    globalHandlers.uninstall();
  }
}

/** What the engine keeps of the workflows on one of the app's task queues, inputs and results in plain text. */
export async function historiesOf({ queuePrefix }: { queuePrefix: string }, queue: string): Promise<string[]> {
  const connection = await Connection.connect({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '' });
  try {
    const client = new Client({ connection });
    const histories: string[] = [];
    for await (const { workflowId, runId, memo } of client.workflow.list({
      query: `TaskQueue = '${queuePrefix}${queue}'`,
    })) {
      const history = historyToJSON(await client.workflow.getHandle(workflowId, runId).fetchHistory());
      histories.push(
        JSON.stringify(memo) + history.replaceAll(/"data": ?"([\w+/=]+)"/g, (_, data: string) => atob(data)),
      );
    }
    return histories;
  } finally {
    await connection.close();
  }
}

export interface Recorder {
  handleOf: (workflowId: string) => WorkflowHandle;
  /** Waits until the workflow, or that run of it, has ended, and keeps its history under the name. */
  keep: (name: string, workflowId: string, runId?: string) => Promise<void>;
}

/** A test that records histories anew; there is none unless `RECORD_HISTORIES` is set. */
export function recording(what: string, record: (recorder: Recorder) => Promise<void>): void {
  if (!process.env.RECORD_HISTORIES) return;
  test(what, async () => {
    const connection = await Connection.connect({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '' });
    const handleOf = (workflowId: string, runId?: string) =>
      new Client({ connection }).workflow.getHandle(workflowId, runId, { followRuns: runId === undefined });
    try {
      await record({
        handleOf,
        async keep(name, workflowId, runId) {
          const handle = handleOf(workflowId, runId);
          await hasEnded(handle);
          writeFileSync(fileOf(name), textOfHistory(await handle.fetchHistory()));
        },
      });
    } finally {
      await connection.close();
    }
  }, 300_000);
}

/** The workflow may be started after the reply to what asks for it. */
async function hasEnded(handle: WorkflowHandle): Promise<void> {
  for (let status = 'RUNNING'; status === 'RUNNING'; await sleep(100))
    try {
      status = (await handle.describe()).status.name;
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
}

/** A history as a file holds it, without what tells of the machine on which it was recorded. */
export function textOfHistory(history: Awaited<ReturnType<WorkflowHandle['fetchHistory']>>): string {
  const told = JSON.parse(
    historyToJSON(history)
      .replaceAll(tmpdir(), '/data')
      .replaceAll(new RegExp(`\\d+@${hostname()}`, 'g'), 'worker'),
  ) as unknown;
  return JSON.stringify(told, (member, value: unknown) => (member === 'stackTrace' ? undefined : value), 2);
}
