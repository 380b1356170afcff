import { Command } from 'commander';
import { addMocks, addOthers, addPublishing } from './definitions/others.ts';
import { addCandidates, addDeployments, addReleases } from './definitions/releases.ts';
import { addApprovals, addLocks, addRuns } from './definitions/runs.ts';
import { addSignIn } from './definitions/sign-in.ts';

/** The commands of `quayside`. @param isJson what is wrong is said by the caller alone. */
export function makeProgram(version: string, { isJson }: { isJson: boolean }): Command {
  const program = new Command('quayside')
    .description('Releases, approvals, locks and runs of Quayside, for pipelines and people')
    .version(version)
    .option('--url <address>', 'the service (QUAYSIDE_URL)')
    .option('--tenant <slug>', 'for credentials that reach several (QUAYSIDE_TENANT)')
    .option(
      '--repository <identifier>',
      'owner/repo (QUAYSIDE_REPOSITORY, the variables of the pipeline, or the remote of the folder)',
    )
    .option('--json', 'print the result as one JSON document, and problems as one line')
    .option('--timeout <time>', 'for everything that the command does: 90, 90s, 5m, 2h')
    .option('--again', 'do it anew, although this job has done it before')
    // Both hold for the commands that are added. In JSON the problem is the only line.
    .configureOutput(isJson ? { writeErr: () => undefined } : {})
    .exitOverride()
    .showHelpAfterError('(--help says more)')
    .addHelpText('after', EXIT_CODES);
  addSignIn(program);
  addCandidates(program);
  addDeployments(program);
  addReleases(program);
  addApprovals(program);
  addLocks(program);
  addRuns(program);
  addPublishing(program);
  addMocks(program);
  addOthers(program);
  return program;
}

const EXIT_CODES = `
Exit codes: 0 done; 1 failed, rejected, cancelled, expired, or not valid; 2 usage; 3 not allowed; 4 not found;
5 conflict, locked or ambiguous; 6 timed out; 7 unreachable or busy; 130 and 143 interrupted.
Credentials: QUAYSIDE_TOKEN, else what quayside login keeps in ~/.config/quayside/credentials.json.`;
