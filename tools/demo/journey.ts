import { createHash } from 'node:crypto';
import type { DemoClient } from './client.ts';
import { counted, type DemoCandidate, type DemoProject, showAnalysis } from './changes.ts';
import type { Milestone } from './repository.ts';
import type { Versions } from './versions.ts';

type Say = (text: string) => void;

export const ENVIRONMENTS = [
  { name: 'integration', category: 'test' },
  { name: 'acceptance', category: 'release' },
  { name: 'staging', category: 'release' },
  { name: 'production', category: 'release' },
] as const;

interface Outcome {
  newStatus: string;
  message: string;
  missing?: { environment: string; reason: string; packages: string[] }[];
}

/** Makes a candidate of a milestone. */
export async function cutCandidate(
  api: DemoClient,
  { repositoryIdentifier, domain }: DemoProject,
  { releaseName, commitSha, tags, subject, branch }: Milestone & { branch?: string },
  artifacts: Versions,
  say: Say,
): Promise<DemoCandidate> {
  const [tag] = tags;
  const { id } = await api.post('/api/release-candidates', {
    repositoryIdentifier,
    domain,
    releaseName,
    commitSha,
    ...(tag !== undefined && { tag }),
    ...(branch !== undefined && { branch }),
    value: { artifacts, metadata: { subject } },
  });
  say(
    `candidate ${releaseName} at ${commitSha.slice(0, 8)} "${subject.slice(0, 60)}": ${counted(Object.keys(artifacts).length, 'package')}`,
  );
  return { id: id as string, releaseName, commitSha, artifacts };
}

/** Deploys a candidate to an environment, and says what it came to. */
async function deploy(
  api: DemoClient,
  { repositoryIdentifier, domain }: DemoProject,
  { releaseName }: DemoCandidate,
  environmentName: string,
  say: Say,
  report: { deploymentStatus: string; packages?: Versions } = { deploymentStatus: 'Success' },
): Promise<void> {
  const sentAt = performance.now();
  const outcome = (await api.post('/api/release-candidates/release-event', {
    repositoryIdentifier,
    domain,
    releaseName,
    environmentName,
    ...report,
    executionId: createHash('sha256')
      .update(JSON.stringify([releaseName, environmentName, report]))
      .digest('hex')
      .slice(0, 16),
  })) as unknown as Outcome;
  const ms = Math.round(performance.now() - sentAt);
  const status = report.deploymentStatus === 'Success' ? '' : `${report.deploymentStatus}: `;
  say(`  to ${environmentName.padEnd(12)} ${status}${outcome.newStatus} in ${ms} ms: ${outcome.message}`);
  for (const { environment, reason, packages } of report.deploymentStatus === 'Success' ? [] : (outcome.missing ?? []))
    say(
      `    not deployed to ${environment}: ${reason}${packages.length > 0 ? `, without ${packages.join(', ')}` : ''}`,
    );
}

async function sayComparison(api: DemoClient, { id }: DemoCandidate, environmentName: string, say: Say) {
  const compared = await api.post(`/api/release-candidates/${id}/compare`, { environmentName });
  const { packagesToInstall, packagesToUpdate, unchanged } = compared.comparison as Record<string, { name: string }[]>;
  const names = [...(packagesToInstall ?? []), ...(packagesToUpdate ?? [])].map(({ name }) => name);
  say(
    `  ${environmentName} would get ${packagesToInstall?.length} new and ${packagesToUpdate?.length} updated packages, ${unchanged?.length} stay${names.length > 1 ? `; in this order: ${names.slice(0, 8).join(', ')}${names.length > 8 ? ' …' : ''}` : ''}`,
  );
}

/** Deploys a candidate to the environments before production. */
export async function deployBeforeProduction(
  api: DemoClient,
  project: DemoProject,
  candidate: DemoCandidate,
  say: Say,
) {
  for (const { name } of ENVIRONMENTS.slice(0, -1)) await deploy(api, project, candidate, name, say);
}

/** Deploys the newest candidate to production: first in part, or in vain where it has one package alone, then all of it. */
export async function deployToProduction(api: DemoClient, project: DemoProject, candidate: DemoCandidate, say: Say) {
  await showAnalysis(api, project, say);
  await sayComparison(api, candidate, 'production', say);
  const artifacts = Object.entries(candidate.artifacts);
  const half = Object.fromEntries(artifacts.slice(0, Math.floor(artifacts.length / 2)));
  await deploy(
    api,
    project,
    candidate,
    'production',
    say,
    artifacts.length > 1 ? { deploymentStatus: 'Partial', packages: half } : { deploymentStatus: 'Failed' },
  );
  await deploy(api, project, candidate, 'production', say);
}
