import type { Command } from 'commander';
import type { Context, GlobalOptions } from '../context.ts';
import type { Outcome } from '../output.ts';
import { runCommand } from '../run-command.ts';

/** Collects an option that is given several times. */
export const gather = (value: string, earlier: string[]): string[] => [...earlier, value];

export const DOMAIN = ['--domain <domain>', 'domain of the repository'] as const;
export const DRY_RUN = ['--dry-run', 'say what would become of it, and do nothing'] as const;
export const EXECUTION = ['--execution <id>', 'id of the run that it belongs to (QUAYSIDE_RUN_ID)'] as const;
export const BRANCH = ['--branch <name>', 'default: that of the pipeline or folder'] as const;

/** Has a command of the program do something at the service. */
export function does<Options extends object>(
  command: Command,
  handler: (context: Context, args: string[], options: Options) => Promise<Outcome | undefined>,
  isLong: (options: Options) => boolean = () => false,
): Command {
  return command.action(async (...given: unknown[]) => {
    const args = given.slice(0, -2).flat() as string[];
    const options = command.opts<Options>();
    const globals = command.optsWithGlobals<GlobalOptions>();
    await runCommand({ command: nameOf(command), options: globals, isLong: isLong(options) }, (context) =>
      handler(context, args, options),
    );
  });
}

const nameOf = (command: Command): string =>
  command.parent?.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();

/** A command that has commands. */
export const group = (program: Command, name: string, description: string): Command =>
  program.command(name).description(description);
