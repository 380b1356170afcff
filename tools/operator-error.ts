/** A start or a command that cannot continue; its message is the one sentence that the operator sees. */
export class OperatorError extends Error {}

/** What stopped a command: one sentence where the operator can act on it, else the whole error. */
export function textOf(error: unknown): string {
  const isKnown =
    error instanceof OperatorError ||
    (error instanceof Error && ['ConfigError', 'DomainError'].includes(error.constructor.name));
  return isKnown ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Prints what stopped a command, and ends this process. */
export function exitWith(error: unknown): never {
  process.stderr.write(`${textOf(error)}\n`);
  process.exit(1);
}

export interface CommandContext {
  env: NodeJS.ProcessEnv;
  /** Takes a line that is not part of the answer. */
  warn: (line: string) => void;
}

/** A command for operators: answers what is printed as JSON, or the text to print. */
export type OperatorCommand = (args: readonly string[], context: CommandContext) => Promise<unknown>;

/** Executes a command with the arguments and the environment of this process. */
export async function runCommand(command: OperatorCommand): Promise<void> {
  const warn = (line: string) => void process.stderr.write(`${line}\n`);
  try {
    console.log(printed(await command(process.argv.slice(2), { env: process.env, warn })));
  } catch (error) {
    exitWith(error);
  }
}

/** An answer as a command prints it. */
export const printed = (answer: unknown): string =>
  typeof answer === 'string' ? answer : JSON.stringify(answer, null, 2);
