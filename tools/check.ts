/**
 * Runs all checks that need no server, some at the same time; prints what each of them says as it ends, and ends with 1 when
 * one of them fails. With names of checks, runs those.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** The longest first. */
const CHECKS = ['lint', 'types', 'imports', 'unused', 'reference', 'format:check', 'check:tests', 'words'];

interface Outcome {
  name: string;
  code: number | null;
  seconds: number;
  said: string;
}

const run = (name: string): Promise<Outcome> =>
  new Promise((resolve) => {
    const began = performance.now();
    const child = spawn('npm', ['run', '--silent', name], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
    child.on('close', (code) => resolve({ name, code, seconds: (performance.now() - began) / 1_000, said }));
  });

const waiting = process.argv.length > 2 ? process.argv.slice(2) : [...CHECKS];
const failed: string[] = [];

async function runWaiting(): Promise<void> {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const { code, seconds, said } = await run(name);
    if (code !== 0) failed.push(name);
    console.log(`${code === 0 ? 'passed' : 'FAILED'}  ${name} (${seconds.toFixed(1)} s)`);
    if (code !== 0) console.log(said.trimEnd());
  }
}

// What is made of the service's document is read by several of them.
const { code: built, said } = await run('build:clients');
if (built !== 0) {
  console.log(said.trimEnd());
  failed.push('build:clients');
}
await Promise.all(Array.from({ length: availableParallelism() }, runWaiting));
if (failed.length > 0) {
  console.log(`Failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
