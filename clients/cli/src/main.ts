import { enableCompileCache } from 'node:module';
import { CommanderError } from 'commander';
import { EXIT, failureOf, usage } from './exit.ts';
import { makeProgram } from './program.ts';
import { report } from './run-command.ts';

declare const VERSION: string;

enableCompileCache();
// Who reads no further, such as head, ends the command without a word.
process.stdout.on('error', () => process.exit(0));

const isJson = process.argv.includes('--json');
const program = makeProgram(VERSION, { isJson });

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) process.exit(report(failureOf(error, undefined), isJson));
  // Help and the version are no failures.
  if (error.exitCode === 0) process.exit(0);
  if (isJson) report(failureOf(usage(error.message.replace(/^error: /, '')), undefined), true);
  process.exit(EXIT.usage);
}
