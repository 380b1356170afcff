import { isLoopbackHost } from '../../domain/kernel/outbound/host-rules.ts';
import { OperatorError } from '../operator-error.ts';
import type { DemoClient } from './client.ts';
import type { Say } from './collaborate.ts';
import { commitFiles } from './commit-files.ts';
import { hasCrmSimulator, startCrmSimulator } from './crm-simulator.ts';
import { copyOf, type DemoRepository, git, readRepository } from './repository.ts';
import { apexClass, makeSource } from './source-fixture.ts';
import { showReleases } from './deploy-releases.ts';
import { ran, sayDeployed, type Stage, succeeded } from './deploy-runs.ts';

const ENVIRONMENT = 'uat';
const CLASS = 'QuaysideDemo';
const TEST = `${CLASS}Test`;
/** How far before the newest commit the org begins. */
const COMMITS_BEFORE = 10;

/**
 * Shows how source comes to an org, which a simulator on this machine plays: what the org has, what differs from it, a
 * validation whose test fails, the fix, its approval, the quick deployment and its tests; then releases that are verified there,
 * one that is not and is rolled back, and the clean-up. The project stays.
 */
export async function showDeployment(
  api: DemoClient,
  { url, suffix, given }: { url: string; suffix: string; given: string | undefined },
  say: Say,
): Promise<void> {
  if (!isLoopbackHost(new URL(url).hostname)) {
    say('not shown: the org would be simulated on this machine, which the service is not on');
    return;
  }
  if (!hasCrmSimulator()) {
    say('not shown: the simulator of orgs is part of the repository, not of the image');
    return;
  }
  const source = await sourceOf(given);
  const crm = await startCrmSimulator(suffix);
  try {
    const org = crm.org('acme-uat');
    const repositoryIdentifier = `demo/${source.name}-${suffix}`;
    const stage = { api, repositoryIdentifier, say };
    say(`${source.original}, in a copy; the org ${org.username} is simulated, no org is real`);
    await api.post('/api/projects', {
      identifier: repositoryIdentifier,
      platform: 'host-a',
      remoteUrl: source.path,
      defaultBranch: source.defaultBranch,
    });
    await api.post('/api/auth/crm/register', { cliAuthUrl: org.authUrl });
    const { id: environmentId } = await api.post('/api/environments', {
      repositoryIdentifier,
      name: ENVIRONMENT,
      category: 'test',
      orgUsername: org.username,
      approvalPolicy: { allowSelfApproval: true },
    });
    const commitId = await deployAll(stage, source);
    const { path, defaultBranch: branch, folder } = source;
    const place = { environmentId: environmentId as string, environmentName: ENVIRONMENT };
    await showReleases(stage, {
      ...place,
      path,
      branch,
      commitId,
      testClass: TEST,
      files: (costs) => classes(folder, costs),
    });
    await cleanUp(stage, source, commitId, place.environmentId);
  } finally {
    await crm.close();
  }
}

interface DemoSource extends Pick<DemoRepository, 'path' | 'original' | 'name' | 'defaultBranch'> {
  /** What the org has at first. */
  base: string;
  head: string;
  /** Where classes are added. */
  folder: string;
}

async function sourceOf(given: string | undefined): Promise<DemoSource> {
  const original = given ?? (await makeSource());
  const { name, defaultBranch, packages, packagesFrom, ...read } = await readRepository(original, undefined);
  if (packagesFrom !== 'sfdx-project.json') throw new OperatorError(`${original} has no sfdx-project.json.`);
  const path = given === undefined ? original : await copyOf(read.path, name);
  const [head = ''] = await git(path, 'rev-parse', defaultBranch);
  const history = await git(path, 'rev-list', '--first-parent', `--max-count=${COMMITS_BEFORE + 1}`, head);
  const safeName = name.replaceAll(/[^\w.-]/g, '-');
  const [first] = packages;
  return {
    path,
    original,
    name: safeName,
    defaultBranch,
    base: history.at(-1) ?? head,
    head,
    folder: [first?.path, 'main/default'].filter(Boolean).join('/'),
  };
}

/** Brings the fix of a test that fails to the org; answers its commit. */
async function deployAll(stage: Stage, source: DemoSource): Promise<string> {
  const { say } = stage;
  const { base, head, folder, path, defaultBranch: branch } = source;
  const install = (payload: object) =>
    ran(stage, { id: 'install-artifacts', environmentName: ENVIRONMENT, ...payload });
  const named = { testLevel: 'RunSpecifiedTests', tests: [TEST] };

  say(`the org gets ${base.slice(0, 8)}:`);
  sayDeployed(stage, succeeded(await install({ commitId: base })));

  const broken = await commitFiles(path, { branch, onto: head, message: 'Show a tariff', files: classes(folder, 12) });
  say(`${broken.slice(0, 8)} is validated: what differs, with the tests of ${TEST}`);
  const failed = await install({ commitId: broken, validateOnly: true, ...named });
  if (failed.status !== 'Failed') throw new OperatorError(`A test that must fail did not: ${JSON.stringify(failed)}`);
  sayDeployed(stage, failed);

  const fixed = await commitFiles(path, { branch, onto: broken, message: 'Fix it', files: classes(folder, 24) });
  say(`${fixed.slice(0, 8)} fixes it, and is validated:`);
  const validation = await install({ commitId: fixed, validateOnly: true, ...named });
  sayDeployed(stage, succeeded(validation));

  say('what was validated is deployed quickly, without its tests:');
  sayDeployed(stage, succeeded(await install({ quickDeployOf: validation.id })));

  const tested = await ran(stage, { id: 'run-apex-tests', environmentName: ENVIRONMENT, classNames: [TEST] });
  const { passed, failed: failures } = succeeded(tested).result?.tests ?? {};
  say(`  verified in the org: ${passed} of its test methods passed, ${failures} failed`);

  say('  each run has its steps and its log: GET /api/flows/runs/{id}, and /output below it');
  return fixed;
}

/** Takes away what the demo has brought to the org beyond the repository, and what it set for the environment. */
async function cleanUp(stage: Stage, source: DemoSource, onto: string, environmentId: string): Promise<void> {
  const { api, say } = stage;
  const { path, defaultBranch: branch, folder, head } = source;
  await api.patch(`/api/environments/${environmentId}`, { verification: null });
  const files = Object.fromEntries(Object.keys(classes(folder, 0)).map((file) => [file, null]));
  const commitId = await commitFiles(path, { branch, onto, message: 'Take the tariff back', files });
  say(
    `clean-up: the environment verifies nothing any more, and the org gets what ${head.slice(0, 8)} has, with deletions:`,
  );
  const order = { id: 'install-artifacts', environmentName: ENVIRONMENT, commitId, deletions: true };
  sayDeployed(stage, succeeded(await ran(stage, order)));
}

/** A class and its test, which passes where a length of two metres costs that much. */
const classes = (folder: string, expected: number): Record<string, string> => ({
  ...apexClass(folder, CLASS, [
    `public class ${CLASS} {`,
    '  public static Decimal tariff(Decimal metres) {',
    '    return metres * 12;',
    '  }',
    '}',
  ]),
  ...apexClass(folder, TEST, [
    '@isTest',
    `private class ${TEST} {`,
    '  @isTest',
    '  static void costsByMetre() {',
    `    Assert.areEqual(${expected}, ${CLASS}.tariff(2));${expected === 24 ? '' : ' // simulated: fails'}`,
    '  }',
    '}',
  ]),
});
