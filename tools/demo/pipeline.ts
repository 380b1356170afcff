import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildClients } from '../clients/build.ts';
import { OperatorError } from '../operator-error.ts';
import type { DemoClient } from './client.ts';
import { newTemporaryFolder } from './temporary-folders.ts';

const COMMAND = fileURLToPath(new URL('../../clients/cli/dist/quayside.js', import.meta.url));
const COMMIT = 'c0ffee1234567890c0ffee1234567890c0ffee12';

const MANIFEST = `<?xml version="1.0" encoding="UTF-8"?>
<Package xmlns="http://soap.sforce.com/2006/04/metadata">
  <types><members>Cart</members><members>CartTest</members><name>ApexClass</name></types>
  <version>66.0</version>
</Package>
`;

interface Line {
  text: string;
  /** Arguments behind `quayside`. */
  args: string[];
  /** Default: 0. */
  exitCode?: number;
}

/** The lines of a pipeline in their order; what each must end with is part of what is shown. */
const linesOf = (release: string): Line[] => {
  const line = (text: string, exitCode = 0): Line => ({ text, args: wordsOf(text), exitCode });
  const where = `${release} --domain core`;
  return [
    line('whoami'),
    line(`candidate create ${where} --artifact shop=1.4.0`),
    line('manifest publish shop package.xml'),
    line(`lock run uat --reason 'release ${release}' -- sh -c 'echo deploying to uat'`),
    line(`deployment report ${where} --environment uat --status Success`),
    line(`deployment report ${where} --environment uat --status Success --dry-run`),
    line('lock release uat', 4),
    line('lock acquire production --lease 5'),
    line(`deployment report ${where} --environment production --status Failed`),
    line(`deployment report ${where} --environment production --status Success --execution second-try`),
    line('lock release production'),
    line('release notes ' + release),
    line('candidate list --all'),
    line(`candidate show nothing --domain core`, 4),
    line('api GET /api/teams', 3),
  ];
};

/** As a shell parts a line with single quotes. */
const wordsOf = (text: string): string[] =>
  [...text.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

interface Ended {
  code: number;
  printed: string;
}

/** What is printed to both, in the order in which the process ends them: talk, then the result. */
const runLine = (args: readonly string[], env: Record<string, string>, cwd: string): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(process.execPath, [COMMAND, ...args], { cwd, env }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, printed: stderr + stdout }),
    );
  });

/**
 * Plays a pipeline whose steps are lines of the command line: a candidate, its deployments under locks, its notes. It has a
 * token of its project alone, as a pipeline should.
 */
export async function showPipeline(
  api: DemoClient,
  { url, suffix }: { url: string; suffix: string },
  say: (text: string) => void,
): Promise<void> {
  await buildClients(say);
  const repositoryIdentifier = `demo/pipeline-${suffix}`;
  await api.post('/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration: { domains: ['core'], autoReleaseFinalization: true },
  });
  for (const [orchestrationOrder, [name, category]] of [
    ['uat', 'test'],
    ['production', 'release'],
  ].entries())
    await api.post('/api/environments', { repositoryIdentifier, orchestrationOrder, name, category });
  const token = await api.post('/api/application-tokens', {
    name: `demo-pipeline-${suffix}`,
    projects: [repositoryIdentifier],
  });
  const folder = newTemporaryFolder();
  writeFileSync(join(folder, 'package.xml'), MANIFEST);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    QUAYSIDE_URL: url,
    QUAYSIDE_TOKEN: token.token as string,
    GITHUB_REPOSITORY: repositoryIdentifier,
    GITHUB_RUN_ID: suffix,
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_JOB: 'release',
    GITHUB_SHA: COMMIT,
    GITHUB_REF: 'refs/heads/main',
  };
  say(`a pipeline of ${repositoryIdentifier}, with a token of that project alone`);
  for (const { text, args, exitCode } of linesOf('2026.07')) {
    say(`$ quayside ${text}`);
    const { code, printed } = await runLine(args, env, folder);
    for (const each of printed.trimEnd().split('\n')) say(`    ${each}`);
    if (code !== exitCode) throw new OperatorError(`quayside ${text} ended with ${code} instead of ${exitCode}.`);
    if (code !== 0) say(`    (exit code ${code})`);
  }
}
