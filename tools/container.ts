import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Built } from './image.ts';
import { OperatorError } from './operator-error.ts';

const HEALTHY_MS = 180_000;
const STOP_MS = 20_000;

/** A command of the image that runs as Docker would run it. */
export class Container {
  readonly #child: ChildProcess;
  readonly #name: string;
  #output = '';

  constructor(built: Built, name: string, env: Record<string, string>, command: readonly string[]) {
    this.#name = name;
    const [program = '', ...args] = command;
    this.#child = spawn(program, args, {
      cwd: built.folder,
      env: { ...built.env, ...env },
      ...built.user,
      // A group of its own, so that nothing of it is left behind.
      detached: true,
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.#output += chunk.toString()));
  }

  /** Its output, once it has ended well. */
  async output(): Promise<string> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
    if (this.#child.exitCode !== 0) throw this.#failure('ended');
    return this.#output;
  }

  /** Whether it has written this. */
  hasSaid(text: string): boolean {
    return this.#output.includes(text);
  }

  async untilHealthy(check: () => Promise<boolean>): Promise<void> {
    const deadline = performance.now() + HEALTHY_MS;
    while (!(await check())) {
      if (this.#child.exitCode !== null || performance.now() > deadline) throw this.#failure('is not healthy');
      await sleep(500);
    }
  }

  /** Stops the container as `docker stop` does; answers how many milliseconds it took. */
  async stop(): Promise<number> {
    if (this.#child.exitCode !== null) throw this.#failure('ended before');
    const stopping = performance.now();
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS);
    await once(this.#child, 'exit');
    clearTimeout(timer);
    if (!this.#output.includes('"stopped"')) throw this.#failure('did not stop in order');
    return Math.round(performance.now() - stopping);
  }

  /** Ends the container as a machine that goes away does. */
  kill(): void {
    try {
      process.kill(-(this.#child.pid ?? 0), 'SIGKILL');
    } catch {
      // Nothing of it is left.
    }
  }

  #failure(how: string): OperatorError {
    return new OperatorError(`The ${this.#name} ${how}:\n${this.#output.slice(-4_000)}`);
  }
}

export const npmRun = (...args: string[]) => ['npm', 'run', '--silent', ...args];

/** Runs a command of the image to its end; answers what it printed. */
export const runInImage = (built: Built, name: string, env: Record<string, string>, ...args: string[]) =>
  new Container(built, name, env, npmRun(...args)).output();
