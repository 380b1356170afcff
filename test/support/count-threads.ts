import { appendFileSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';

/**
 * Loaded into a process before its own modules: appends a line to the file `THREADS_FILE` for each thread that the
 * process starts, and ends its threads on SIGUSR2, as running out of memory would.
 */
const threads: Worker[] = [];
process.on('worker', (thread) => {
  threads.push(thread);
  appendFileSync(process.env.THREADS_FILE ?? '', `${thread.threadId}\n`);
});
process.on('SIGUSR2', () => {
  for (const thread of threads) void thread.terminate();
});
