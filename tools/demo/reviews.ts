import { OperatorError } from '../operator-error.ts';
import type { CollaborationPlace } from './collaborate.ts';
import { waitFor } from './wait.ts';

/** So long the org of the demo lives, and with it the lease. */
const ORG_LIVES_MS = 6_000;
const REACHED_MS = 60_000;

/** A pull request that gets an org by a rule until its lease ends, and another that waits for the next org. */
export async function showReviews({ api, url, suffix, say }: CollaborationPlace): Promise<void> {
  const repositoryIdentifier = `demo/reviews-${suffix}`;
  say('review environments: orgs are registered as their builder would; none of them is real');
  await api.post('/api/projects', { identifier: repositoryIdentifier, platform: 'host-a', defaultBranch: 'main' });
  const pool = await api.post('/api/review/pools', { repositoryIdentifier, tag: 'review', type: 'SCRATCH_ORG' });
  const register = (name: string, more: object = {}) =>
    api.post(`/api/review/pools/${pool.id as string}/instances`, {
      username: `${name}-${suffix}@demo.example.com`,
      ...more,
    });
  const rule = { repositoryIdentifier, targetType: 'pool', poolTag: 'review' };
  await api.post('/api/review/pools/assign', { ...rule, branchPattern: '*', description: 'Everything else' });
  await api.post('/api/review/pools/assign', { ...rule, branchPattern: 'feature/*', domainPatterns: ['sales'] });
  const asked = { repositoryIdentifier, branch: 'feature/checkout' };
  const { matches } = await api.post('/api/review/pools/assign/test', { ...asked, domain: 'sales' });
  for (const { assignment, totalScore } of matches as { assignment: { branchPattern: string }; totalScore: number }[])
    say(`  the rule for ${assignment.branchPattern} matches ${asked.branch} with ${totalScore}`);

  await register('first', { expiresAt: new Date(Date.now() + ORG_LIVES_MS).toISOString() });
  const assign = (assignmentId: string) =>
    api.post('/api/review/assignments', { ...asked, assignmentType: 'pr', assignmentId, domains: ['sales'] });
  const first = await assign('118');
  say(`  pull request 118 has ${orgOf(first)} until ${first.expiresAt as string}, when the org ends`);
  say(`    its page: ${url}/review-env/${first.id as string}`);
  const second = await assign('119');
  say(`  pull request 119 is ${second.state as string}, number ${second.position as number} in line`);
  await becomes('expired', first.id as string);
  say('  the lease of 118 has expired, and the org was retired');
  await register('second');
  const served = await becomes('active', second.id as string);
  say(`  a second org was registered: pull request 119 has ${orgOf(served)} until ${served.expiresAt as string}`);
  const { state } = await api.post(`/api/review/assignments/${second.id as string}/release`, {});
  say(`  pull request 119 was merged: its assignment is ${state as string}`);

  async function becomes(wanted: string, id: string) {
    const assignment = await waitFor(
      () => api.get(`/api/review/assignments/${id}`),
      (found) => found.state === wanted,
      REACHED_MS,
    );
    if (!assignment) throw new OperatorError(`The assignment ${id} did not become ${wanted} in time.`);
    return assignment;
  }
}

const orgOf = ({ instance }: Record<string, unknown>): string =>
  (instance as { username: string } | null)?.username ?? 'no org';
