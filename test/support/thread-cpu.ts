/**
 * Milliseconds of CPU that a work takes of this thread, however many others share the processor: the least of three
 * times, since the collector of garbage may run within any.
 */
export function threadCpuMs(work: () => void): number {
  const times = [1, 2, 3].map(() => {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}
