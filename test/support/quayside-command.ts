import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from './client.ts';
import { builtClients } from './clients.ts';

export const QUAYSIDE = new URL('../../clients/cli/dist/quayside.js', import.meta.url).pathname;

export interface Ran {
  code: number | null;
  out: string;
  err: string;
  /** What was printed with `--json`. */
  json: Json;
  /** The problem that was printed with `--json`. */
  problem: Json;
}

export interface Started {
  child: ChildProcess;
  /** What it has said so far on standard error, and printed. */
  said: () => string;
  ended: Promise<Ran>;
}

export interface RunOptions {
  env?: Record<string, string>;
  input?: string;
  cwd?: string;
}

export interface QuaysideCommand {
  home: string;
  start: (args: readonly string[], options?: RunOptions) => Started;
  /** Runs the command, and expects that exit code. */
  run: (code: number, args: readonly string[], options?: RunOptions) => Promise<Ran>;
  remove: () => void;
}

const jsonOf = (text: string): Json => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The command line as pipelines start it: a process with a home of its own, and no variables but the given ones. */
export async function quaysideCommand(env: Record<string, string>): Promise<QuaysideCommand> {
  await builtClients();
  const home = mkdtempSync(join(tmpdir(), 'quayside-home-'));
  const start: QuaysideCommand['start'] = (args, options = {}) => {
    const child = spawn(process.execPath, [QUAYSIDE, ...args], {
      cwd: options.cwd ?? home,
      env: { PATH: process.env.PATH ?? '', HOME: home, ...env, ...options.env },
    });
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
    const ended = new Promise<Ran>((resolve) => {
      child.on('close', (code) => resolve({ code, out, err, json: jsonOf(out), problem: jsonOf(err) }));
    });
    return { child, said: () => err + out, ended };
  };
  return {
    home,
    start,
    async run(code, args, options) {
      const ran = await start(args, options).ended;
      if (ran.code !== code)
        throw new Error(
          `quayside ${args.join(' ')} ended with ${ran.code} instead of ${code}:\n${ran.err}\n${ran.out}`,
        );
      return ran;
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}
