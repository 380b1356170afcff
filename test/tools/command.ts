import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { type OperatorCommand, printed, textOf } from '../../tools/operator-error.ts';

/** What a command for operators printed, and its exit code. */
export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** A command within the process of the test, which has loaded its modules. */
export async function runCommand(
  command: OperatorCommand,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Outcome> {
  let stderr = '';
  const warn = (line: string) => void (stderr += `${line}\n`);
  try {
    return { code: 0, stdout: `${printed(await command(args, { env, warn }))}\n`, stderr };
  } catch (error) {
    return { code: 1, stdout: '', stderr: `${stderr}${textOf(error)}\n` };
  }
}

/** The same by its program, `tools/<name>.ts`, as a process of its own. */
export const runProgram = (name: string, args: readonly string[], env: Record<string, string>): Promise<Outcome> =>
  new Promise((resolve) => {
    const { NODE_OPTIONS: _, ...inherited } = process.env;
    const program = join(import.meta.dirname, `../../tools/${name}.ts`);
    execFile(process.execPath, [program, ...args], { env: { ...inherited, ...env } }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
