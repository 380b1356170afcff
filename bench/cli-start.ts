import { spawnSync } from 'node:child_process';
import { buildClients } from '../tools/clients/build.ts';

/** How long the command line takes to start: the least and the median of twenty, and of Node itself. */

const STARTS = 20;
await buildClients(console.log);
const CLI = new URL('../clients/cli/dist/quayside.js', import.meta.url).pathname;

function startsOf(args: readonly string[]): { least: string; median: string } {
  const times = Array.from({ length: STARTS }, () => {
    const began = performance.now();
    const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' });
    if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}`);
    return performance.now() - began;
  }).toSorted((a, b) => a - b);
  const ms = (at: number) => `${(times[at] ?? 0).toFixed(0)} ms`;
  return { least: ms(0), median: ms(STARTS / 2) };
}

const node = startsOf(['--eval', '0']);
console.log(`Node alone: least ${node.least}, median ${node.median}`);
for (const args of [['--version'], ['lock', 'run', '--help']]) {
  const { least, median } = startsOf([CLI, ...args]);
  console.log(`quayside ${args.join(' ')}: least ${least}, median ${median}`);
}
