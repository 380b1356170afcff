import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { NativeConnection, Worker } from '@temporalio/worker';

/** A worker of the bare workflow, with the settings of the service's own. Its argument is the task queue. */
const run = promisify(execFile);
const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS ?? '' });
const worker = await Worker.create({
  connection,
  taskQueue: process.argv[2] ?? 'bare',
  workflowsPath: fileURLToPath(new URL('./flows-bare.workflow.ts', import.meta.url)),
  maxConcurrentActivityTaskExecutions: 16,
  workflowTaskPollerBehavior: { type: 'autoscaling' },
  activityTaskPollerBehavior: { type: 'autoscaling' },
  activities: {
    async runTrue(): Promise<void> {
      await run('/bin/date', ['+%s%N']);
    },
  },
});
process.once('SIGTERM', () => worker.shutdown());
process.send?.({ ready: true });
await worker.run();
await connection.close();
process.exit();
