import { OperatorError } from '../operator-error.ts';
import { commitFiles } from './commit-files.ts';
import { ran, REACHED_MS, type Run, sayDeployed, type Stage, succeeded } from './deploy-runs.ts';
import { waitFor } from './wait.ts';

const DOMAIN = 'harbour';
const [FIRST, SECOND] = ['2026.1', '2026.2'];

interface Releases {
  environmentId: string;
  environmentName: string;
  /** The repository. */
  path: string;
  branch: string;
  /** What the org runs. */
  commitId: string;
  testClass: string;
  /** The source, whose test passes where that is what it costs. */
  files: (costs: number) => Record<string, string>;
}

interface Verification {
  state: string;
  detail: string | null;
  checks: { name: string; outcome: string; detail: string | null }[];
}

/** Shows a release that is verified after its deployment, and one that is not and is rolled back. */
export async function showReleases(stage: Stage, given: Releases): Promise<void> {
  const { api, say } = stage;
  const { environmentId, environmentName, path, branch, commitId, testClass, files } = given;
  const checks = [{ type: 'apex-tests', classNames: [testClass] }];
  await api.patch(`/api/environments/${environmentId}`, { verification: { checks, onFailure: 'notify' } });
  say(`releases: what is deployed to ${environmentName} is now verified by ${testClass}`);
  await release(stage, given, FIRST, commitId);
  const next = await commitFiles(path, { branch, onto: commitId, message: 'Expect a dearer tariff', files: files(18) });
  const verification = await release(stage, given, SECOND, next);
  if (verification.state !== 'failed')
    throw new OperatorError(`A deployment that must not be verified is ${verification.state}.`);

  say(`back to ${FIRST}:`);
  const order = { id: 'rollback-release', domain: DOMAIN, environmentName, deletions: true };
  const back = await ran(stage, order);
  for (const remark of back.result?.cannotDo ?? []) say(`  beforehand: ${remark}`);
  sayDeployed(stage, succeeded(back));
}

/** Cuts a candidate, has it deployed, and waits until that is verified or not. */
async function release(
  stage: Stage,
  { environmentName }: Releases,
  releaseName: string,
  commitSha: string,
): Promise<Verification> {
  const { api, repositoryIdentifier, say } = stage;
  const candidate = { repositoryIdentifier, domain: DOMAIN, releaseName, commitSha, value: { artifacts: {} } };
  const { id } = await api.post('/api/release-candidates', candidate);
  say(`${releaseName} at ${commitSha.slice(0, 8)} is deployed:`);
  const run: Run = await ran(stage, { id: 'execute-release', domain: DOMAIN, releaseName, environmentName });
  sayDeployed(stage, succeeded(run));
  const verified = await waitFor(
    async () => {
      const shown = await api.post(`/api/release-candidates/${id as string}/compare`, { environmentName });
      return shown.verification as Verification | null;
    },
    (shown) => shown?.state === 'verified' || shown?.state === 'failed',
    REACHED_MS,
  );
  if (!verified) throw new OperatorError(`The deployment of ${releaseName} was not verified in time.`);
  say(`  ${verified.state === 'verified' ? 'verified' : `not verified: ${verified.detail ?? ''}`}`);
  for (const { name, outcome, detail } of verified.checks)
    say(`    ${name}: ${outcome}${detail === null ? '' : `, ${detail}`}`);
  return verified;
}
