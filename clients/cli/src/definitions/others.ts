import type { Command } from 'commander';
import {
  armMock,
  callApi,
  followChanges,
  openSession,
  publishManifest,
  publishSarif,
  verifyMock,
} from '../commands/publish.ts';
import { attention } from '../commands/releases.ts';
import { loadMcp } from '../load-mcp.ts';
import { BRANCH, does, gather, group } from './definition.ts';

export function addPublishing(program: Command): void {
  does<{ branch?: string; commit?: string }>(
    group(program, 'sarif', 'analyses of code')
      .command('publish <file>')
      .option(...BRANCH)
      .option('--commit <sha>', 'default: that of the pipeline or folder'),
    (context, [file = ''], options) => publishSarif(context, file, options),
  );
  does<{ branch?: string }>(
    group(program, 'manifest', 'what packages hold')
      .command('publish <package> <file>')
      .description('package.xml, or the same as JSON')
      .option(...BRANCH),
    (context, [name = '', file = ''], options) => publishManifest(context, name, file, options),
  );
}

export function addMocks(program: Command): void {
  const mock = group(program, 'mock', 'mock scenarios');
  does<Parameters<typeof armMock>[3]>(
    mock
      .command('arm <workspace> <scenario>')
      .option('--minutes <count>')
      .option('--replace', 'stop whatever else is active in the workspace'),
    (context, [workspace = '', name = ''], options) => armMock(context, workspace, name, options),
  );
  does<{ expect: string }>(
    mock
      .command('verify <workspace> <scenario>')
      .description('compare the calls that came with what is expected')
      .requiredOption('--expect <json>', 'or @file, or - for standard input'),
    (context, [workspace = '', name = ''], options) => verifyMock(context, workspace, name, options),
  );
  does<Parameters<typeof openSession>[1]>(
    group(program, 'session', 'browser sessions')
      .command('open')
      .option('--pr <number>', 'in the review org of a pull request')
      .option('--environment <name>', 'in the org of an environment')
      .option('--minutes <count>'),
    (context, _, options) => openSession(context, options),
  );
}

export function addOthers(program: Command): void {
  does(program.command('attention').description('what a person should look at'), attention);
  does<{ topic: string[] }>(
    program
      .command('changes')
      .description('what changes, as it happens')
      .option('--topic <topic>', 'repeatable', gather, []),
    (context, _, options) => followChanges(context, options),
    () => true,
  );
  does<{ allowActions?: boolean }>(
    program
      .command('mcp')
      .description('serve models by the Model Context Protocol, on standard input and output')
      .option('--allow-actions', 'let them ask for releases and approve, as the credential may'),
    async (context, _, { allowActions = false }) => {
      const { serveMcp } = await loadMcp();
      await serveMcp(context, { allowActions, version: program.version() ?? '' });
      return undefined;
    },
    () => true,
  );
  does<{ data?: string }>(
    program
      .command('api <method> <path>')
      .description('any request of the service')
      .option('--data <json>', 'or @file, or - for standard input'),
    (context, [method = '', path = ''], options) => callApi(context, method, path, options),
  );
}
