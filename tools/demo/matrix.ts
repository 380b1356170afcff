import type { DemoClient } from './client.ts';

const ENVIRONMENTS = [
  { name: 'dev', category: 'dev' },
  { name: 'qa', category: 'test' },
  { name: 'uat', category: 'release' },
  { name: 'production', category: 'release' },
] as const;

/** Releases of a domain, the oldest first, with the environments that each reached; a failed one has its place. */
const RELEASES: Record<string, readonly { name: string; reached: number; failedIn?: string }[]> = {
  sales: [
    { name: '2026.01', reached: 4 },
    { name: '2026.02', reached: 4 },
    { name: '2026.03', reached: 3, failedIn: 'production' },
    { name: '2026.04', reached: 2 },
    { name: '2026.05', reached: 0 },
  ],
  service: [
    { name: '3.7', reached: 4 },
    { name: '3.8', reached: 3 },
    { name: '3.9', reached: 1 },
  ],
};
const HELD = '2026.04';
const VERSION_STEP = 100;

interface Place {
  url: string;
  suffix: string;
}

/**
 * A project with releases of two domains on their way, to be looked at in the console: what runs, ran before, failed, is
 * held and locked. It stays.
 */
export async function showMatrix(
  api: DemoClient,
  { url, suffix }: Place,
  say: (text: string) => void,
): Promise<string> {
  const repositoryIdentifier = `demo/console-${suffix}`;
  await api.post('/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  const ids: Record<string, string> = {};
  for (const [orchestrationOrder, environment] of ENVIRONMENTS.entries()) {
    const { id } = await api.post('/api/environments', { repositoryIdentifier, orchestrationOrder, ...environment });
    ids[environment.name] = id as string;
  }
  for (const [domain, releases] of Object.entries(RELEASES))
    for (const [index, { name: releaseName, reached, failedIn }] of releases.entries()) {
      const at = { repositoryIdentifier, domain, releaseName };
      const { id } = await api.post('/api/release-candidates', {
        ...at,
        commitSha: (index + 1).toString(16).padStart(40, domain === 'sales' ? 'a' : 'b'),
        value: { artifacts: { [`${domain}-core`]: `1.${index}.0`, [`${domain}-ui`]: `2.${index * VERSION_STEP}.0` } },
      });
      const report = (environmentName: string, deploymentStatus: string) =>
        api.post('/api/release-candidates/release-event', { ...at, environmentName, deploymentStatus });
      for (const { name } of ENVIRONMENTS.slice(0, reached)) await report(name, 'Success');
      if (failedIn !== undefined) await report(failedIn, 'Failed');
      if (releaseName === HELD)
        await api.post(`/api/release-candidates/${id as string}/hold`, { reason: 'waits for the legal department' });
    }
  await api.post(`/api/environments/${ids.uat}/locks`, { reason: 'acceptance test until noon', leaseMinutes: 120 });
  const address = `${url}/console/where?${new URLSearchParams({ project: repositoryIdentifier }).toString()}`;
  say(`${Object.values(RELEASES).flat().length} releases of two domains; look at them: ${address}`);
  return address;
}
