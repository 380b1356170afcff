import { type Command, Option } from 'commander';
import {
  abortCandidate,
  createCandidate,
  holdCandidate,
  listCandidates,
  releaseHold,
  showCandidate,
} from '../commands/candidates.ts';
import { reportDeployment, STATUSES } from '../commands/deployments.ts';
import { compareSides, releaseNotes, requestRelease, whereIs } from '../commands/releases.ts';
import { does, DOMAIN, DRY_RUN, EXECUTION, gather, group } from './definition.ts';

export function addCandidates(program: Command): void {
  const candidate = group(program, 'candidate', 'release candidates');
  does<Parameters<typeof createCandidate>[2]>(
    candidate
      .command('create <release>')
      .description('report what was built; again for the same release: replace its content')
      .requiredOption(...DOMAIN)
      .option('--commit <sha>', 'default: that of the pipeline or folder')
      .option('--branch <name>', 'default: that of the pipeline or folder')
      .option('--tag <name>')
      .option('--artifact <name=version>', 'repeatable', gather, [])
      .option(
        '--definition <file>',
        'JSON with artifacts, artifactTypes, packageDependencies, metadata; - for standard input',
      ),
    (context, [release = ''], options) => createCandidate(context, release, options),
  );
  does<Parameters<typeof listCandidates>[1]>(
    candidate
      .command('list')
      .option(...DOMAIN)
      .option('--branch <name>')
      .option('--status <statuses>', 'separated by commas')
      .option('--all', 'with those that are finalized')
      .option('--limit <count>', 'at most', '50'),
    (context, _, options) => listCandidates(context, options),
  );
  does<{ domain?: string }>(candidate.command('show <release>').option(...DOMAIN), (context, [release = ''], options) =>
    showCandidate(context, release, options),
  );
  does<{ domain?: string; reason?: string }>(
    candidate
      .command('abort <release>')
      .description('for good')
      .option(...DOMAIN)
      .option('--reason <text>'),
    (context, [release = ''], options) => abortCandidate(context, release, options),
  );
  does<Parameters<typeof holdCandidate>[2]>(
    candidate
      .command('hold <release>')
      .description('let it go nowhere until the hold is released')
      .option(...DOMAIN)
      .requiredOption('--reason <text>')
      .option('--until <time>', 'ISO 8601'),
    (context, [release = ''], options) => holdCandidate(context, release, options),
  );
  does<{ domain?: string }>(
    candidate.command('release-hold <release>').option(...DOMAIN),
    (context, [release = ''], options) => releaseHold(context, release, options),
  );
}

export function addDeployments(program: Command): void {
  does<Parameters<typeof reportDeployment>[2]>(
    group(program, 'deployment', 'what pipelines deploy')
      .command('report <release>')
      .description('report a deployment')
      .requiredOption(...DOMAIN)
      .requiredOption('--environment <name>')
      .addOption(new Option('--status <status>').choices(STATUSES).makeOptionMandatory())
      .option('--package <name=version>', 'what was installed, repeatable; default: all of it', gather, [])
      .option(...EXECUTION)
      .option(...DRY_RUN),
    (context, [release = ''], options) => reportDeployment(context, release, options),
  );
}

export function addReleases(program: Command): void {
  const release = group(program, 'release', 'releases');
  does<Parameters<typeof requestRelease>[2]>(
    release
      .command('request <release>')
      .description('take a candidate to environments')
      .requiredOption(...DOMAIN)
      .option('--environment <name>', 'repeatable; default: all release environments', gather, [])
      .option('--override <reason>', 'pass the promotion policy, for owners')
      .option('--fail-outside-window', 'instead of waiting for the window')
      .option('--wait', 'until it has ended')
      .option(...DRY_RUN),
    (context, [name = ''], options) => requestRelease(context, name, options),
    ({ wait }) => wait === true,
  );
  does(
    release.command('where [workItem]').description('what runs where, or where the changes for a work item are'),
    (context, [item]) => whereIs(context, item),
  );
  does<Parameters<typeof releaseNotes>[2]>(
    release
      .command('notes <release>')
      .option('--format <format>', 'md or json', 'md')
      .option(...DOMAIN)
      .option('--environment <name>', 'against what ran there before'),
    (context, [name = ''], options) => releaseNotes(context, name, options),
  );
  does<Parameters<typeof compareSides>[3]>(
    release
      .command('compare <left> <right>')
      .description('releases or environments, by name; environment:<name> or candidate:<name> where both have it')
      .option(...DOMAIN)
      .option('--changelog', 'with commits and work items'),
    (context, [left = '', right = ''], options) => compareSides(context, left, right, options),
  );
}
