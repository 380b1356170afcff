import type { Command } from 'commander';
import { decide, waitForApproval } from '../commands/approvals.ts';
import { runLocked } from '../commands/lock-run.ts';
import { acquireLock, extendLock, releaseLock } from '../commands/locks.ts';
import { cancelRun, runLogs, startRun, waitForRun } from '../commands/runs.ts';
import { does, DRY_RUN, EXECUTION, gather, group } from './definition.ts';

const COMMENT = ['--comment <text>', 'shown with the decision'] as const;

export function addApprovals(program: Command): void {
  const approval = group(program, 'approval', 'approvals, by their id or that of their run');
  does(
    approval.command('wait <approval>').description('until it is decided'),
    (context, [id = '']) => waitForApproval(context, id),
    () => true,
  );
  for (const vote of ['approve', 'reject'] as const)
    does<{ comment?: string }>(
      approval.command(`${vote} <approval>`).option(...COMMENT),
      (context, [id = ''], options) => decide(context, id, vote, options),
    );
}

export function addLocks(program: Command): void {
  const lock = group(program, 'lock', 'locks of environments');
  const LEASE = ['--lease <minutes>', 'after which it ends by itself'] as const;
  const REASON = ['--reason <text>', 'shown to those who wait'] as const;
  const TICKET = ['--ticket <id>', 'default: your own'] as const;
  const asking = (name: string, description: string) =>
    lock
      .command(name)
      .description(description)
      .option(...LEASE)
      .option(...REASON)
      .option(...EXECUTION);
  const own = (name: string, description: string) =>
    lock
      .command(name)
      .description(description)
      .option(...TICKET)
      .option(...EXECUTION);
  does<Parameters<typeof acquireLock>[2]>(
    asking('acquire <environment>', 'wait for the lock, and keep it'),
    (context, [name = ''], options) => acquireLock(context, name, options),
    () => true,
  );
  does<Parameters<typeof extendLock>[2]>(
    own('extend <environment>', 'from now on').option(...LEASE),
    (context, [name = ''], options) => extendLock(context, name, options),
  );
  does<Parameters<typeof releaseLock>[2]>(
    own('release <environment>', 'give it back'),
    (context, [name = ''], options) => releaseLock(context, name, options),
  );
  does<Parameters<typeof runLocked>[3]>(
    asking('run <environment> [command...]', 'run a command while the lock is held: lock run uat -- ./deploy.sh'),
    (context, [name = '', ...command], options) => runLocked(context, name, command, options),
    () => true,
  );
}

export function addRuns(program: Command): void {
  const run = group(program, 'run', 'runs of any type');
  does<Parameters<typeof startRun>[2]>(
    run
      .command('start <type>')
      .option('--payload <json>', 'or @file, or - for standard input')
      .option('--set <name=value>', 'a member of the payload, repeatable', gather, [])
      .option('--wait', 'until it has ended')
      .option(...DRY_RUN),
    (context, [type = ''], options) => startRun(context, type, options),
    ({ wait }) => wait === true,
  );
  does(
    run.command('wait <run>').description('until it has ended'),
    (context, [id = '']) => waitForRun(context, id),
    () => true,
  );
  does<{ follow?: boolean }>(
    run.command('logs <run>').description('its output').option('--follow', 'as it comes, until the run has ended'),
    (context, [id = ''], options) => runLogs(context, id, options),
    ({ follow }) => follow === true,
  );
  does(run.command('cancel <run>'), (context, [id = '']) => cancelRun(context, id));
}
