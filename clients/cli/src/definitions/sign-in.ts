import type { Command } from 'commander';
import { login, logout, whoami } from '../commands/sign-in.ts';
import type { GlobalOptions } from '../context.ts';
import { runPlain } from '../run-command.ts';
import { does } from './definition.ts';

export function addSignIn(program: Command): void {
  const globals = () => program.opts<GlobalOptions>();
  const signIn = program
    .command('login')
    .description('sign in, and keep the credential')
    .option('--email <address>')
    .option('--password-stdin', 'the first line of standard input')
    .option('--totp-stdin', 'code of the second factor, the second line')
    .option('--token-stdin', 'an application token');
  signIn.action(() => runPlain(globals(), (signal) => login(globals(), signIn.opts(), { env: process.env, signal })));
  program
    .command('logout')
    .description('end the session, and forget the credential')
    .action(() => runPlain(globals(), (signal) => logout(globals(), { env: process.env, signal })));
  does(program.command('whoami').description('whose credential is used'), whoami);
}
