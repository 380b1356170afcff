import { createProgramRunner } from '../../activities/adapters/programs/program-runner.ts';

/** Runs a program that prints a quarter of a gigabyte; prints what is kept of it, and by how much live memory grew at most. */
const live = (): number => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};
const before = live();
let most = before;
const watch = setInterval(() => (most = Math.max(most, live())), 100);
const args = ['-c', 'yes xxxxxxx | head -c 250000000; echo -n end'];
const program = { program: '/bin/sh', args, env: {}, timeoutSeconds: 600 };
const { outputTail, outputBytes } = await createProgramRunner()(program, new AbortController().signal);
clearInterval(watch);
process.stdout.write(JSON.stringify({ outputTail, outputBytes, grownBy: Math.max(most, live()) - before }), () =>
  process.exit(0),
);
