import { spawn } from 'node:child_process';
import { once } from 'node:events';

const END = '--end of the block--';

export interface ExampleShell {
  /** What the commands print, and what they complain of. */
  run: (commands: string) => Promise<{ printed: string; complained: string }>;
  /** Ends it with everything that it started. */
  close: () => Promise<void>;
}

/** A shell in which commands run one after another, as somebody pastes them: variables and functions stay. */
export function exampleShell(cwd: string, env: Record<string, string>): ExampleShell {
  const shell = spawn('sh', [], {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: cwd, ...env },
    stdio: 'pipe',
    // What it leaves running in the background is of its process group.
    detached: true,
  });
  const ended = once(shell, 'close');
  const read = { stdout: '', stderr: '' };
  let look = () => {};
  for (const name of ['stdout', 'stderr'] as const) {
    shell[name].setEncoding('utf8').on('data', (text: string) => {
      read[name] += text;
      look();
    });
  }
  shell.once('exit', () => look());
  return {
    async run(commands) {
      shell.stdin.write(`${commands}\nprintf '%s\\n' '${END}'; printf '%s\\n' '${END}' >&2\n`);
      await new Promise<void>((resolve, reject) => {
        look = () => {
          if (read.stdout.includes(END) && read.stderr.includes(END)) resolve();
          else if (shell.exitCode !== null || shell.signalCode !== null)
            reject(new Error(`The shell ended: ${read.stderr}`));
        };
        look();
      });
      const [printed = '', complained = ''] = [read.stdout, read.stderr].map((text) => text.split(`${END}\n`)[0]);
      read.stdout = read.stderr = '';
      return { printed, complained };
    },
    async close() {
      if (shell.pid !== undefined && shell.exitCode === null) process.kill(-shell.pid, 'SIGKILL');
      await ended;
    },
  };
}
