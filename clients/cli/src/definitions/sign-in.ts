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
  signIn.action(() => runPlain(globals(), () => login(globals(), signIn.opts(), process.env)));
  program
    .command('logout')
    .description('end the session, and forget the credential')
    .action(() => runPlain(globals(), () => logout(globals(), process.env)));
  does(program.command('whoami').description('whose credential is used'), whoami);
}
