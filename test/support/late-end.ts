/** What Jest sends each of its processes after the last test file (`CHILD_MESSAGE_END` of jest-worker). */
const END = 2;

/** Well before Jest ends it by force (`workerGracefulExitTimeout`). */
const LATE_MS = 5_000;

let isWatched = false;

/** Says on the standard error what keeps a process of Jest from ending after its last test file. */
export function watchEnd(): void {
  // Without a channel the tests run in Jest's own process.
  if (isWatched || process.channel === undefined) return;
  isWatched = true;
  const heed = (message: unknown) => {
    if (!Array.isArray(message) || message[0] !== END) return;
    // Who listens keeps the process from ending.
    process.off('message', heed);
    setTimeout(() => {
      const open = process.getActiveResourcesInfo().join(', ');
      process.stderr.write(`A process of Jest (${process.pid}) is kept from ending by: ${open}.\n`);
    }, LATE_MS).unref();
  };
  process.on('message', heed);
}
