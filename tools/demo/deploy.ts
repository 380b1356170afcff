import { isLoopbackHost } from '../../domain/kernel/outbound/host-rules.ts';
import { OperatorError } from '../operator-error.ts';
import type { DemoClient } from './client.ts';
import type { Say } from './collaborate.ts';
import { commitFiles } from './commit-files.ts';
import { hasCrmSimulator, startCrmSimulator } from './crm-simulator.ts';
import { copyOf, type DemoRepository, git, readRepository } from './repository.ts';
import { apexClass, makeSource } from './source-fixture.ts';
import { waitFor } from './wait.ts';

const REACHED_MS = 600_000;
const ENVIRONMENT = 'uat';
const CLASS = 'QuaysideDemo';
const TEST = `${CLASS}Test`;
/** How far before the newest commit the org begins. */
const COMMITS_BEFORE = 10;

interface Run {
  id: string;
  status: string;
  success: { error: string | null } | null;
  result: {
    form?: string;
    reason?: string;
    components?: number;
    deletions?: number;
    changes?: Record<string, number>;
    tests?: Record<string, number>;
    pendingDeletions?: number;
  } | null;
}

interface Stage {
  api: DemoClient;
  repositoryIdentifier: string;
  say: Say;
}

/**
 * Shows how source comes to an org, which a simulator on this machine plays: what the org has, what differs from it, a
 * validation whose test fails, the fix, its approval, the quick deployment, its tests, and the way back. The project stays.
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
    await api.post('/api/environments', {
      repositoryIdentifier,
      name: ENVIRONMENT,
      category: 'test',
      orgUsername: org.username,
      approvalPolicy: { allowSelfApproval: true },
    });
    await deployAll(stage, source);
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

async function deployAll(stage: Stage, source: DemoSource): Promise<void> {
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

  say(`back to ${base.slice(0, 8)}:`);
  sayDeployed(stage, succeeded(await install({ commitId: base })));
  say('  each run has its steps and its log: GET /api/flows/runs/{id}, and /output below it');
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

/** Starts a run, approves it where that is asked for, and follows it to its end. */
async function ran({ api, repositoryIdentifier, say }: Stage, payload: object): Promise<Run> {
  const { id } = await api.post('/api/flows/run', { payload: { repositoryIdentifier, ...payload } });
  let isApproved = false;
  const ended = await waitFor(
    async () => {
      const shown = (await api.get(`/api/flows/runs/${id as string}`)) as unknown as Run;
      if (shown.success === null && !isApproved) isApproved = await approve(api, id as string, say);
      return shown;
    },
    ({ success }) => success !== null,
    REACHED_MS,
  );
  if (!ended) throw new OperatorError(`The run ${id as string} did not end in time.`);
  return ended;
}

async function approve(api: DemoClient, runId: string, say: Say): Promise<boolean> {
  const { items } = await api.get('/api/flows/approvals');
  const asked = (items as { id: string; executionId: string }[]).find(({ executionId }) => executionId === runId);
  if (!asked) return false;
  await api.post(`/api/flows/approvals/${asked.id}/approve`, { comment: 'shown by the demo' });
  say('  an approval was asked for, and given');
  return true;
}

function succeeded(run: Run): Run {
  if (run.success?.error) throw new OperatorError(`The run ${run.id} failed: ${run.success.error}`);
  return run;
}

function sayDeployed({ say }: Stage, { status, success, result }: Run): void {
  const { form, reason, components = 0, deletions = 0, changes = {}, tests, pendingDeletions = 0 } = result ?? {};
  if (form !== undefined) say(`  ${form}: ${components} components, ${deletions} deletions. ${reason}`);
  const changed = Object.entries(changes).map(([what, count]) => `${count} ${what}`);
  const run = tests?.run ? [`${tests.run - (tests.failed ?? 0)} of ${tests.run} test methods passed`] : [];
  say(`  ${status}: ${[...changed, ...run].join(', ') || 'nothing changed'}`);
  if (pendingDeletions > 0) say(`  ${pendingDeletions} components stay that are gone from the source`);
  if (success?.error) say(`  ${success.error}`);
}
