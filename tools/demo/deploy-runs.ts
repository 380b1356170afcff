import { OperatorError } from '../operator-error.ts';
import type { DemoClient } from './client.ts';
import type { Say } from './collaborate.ts';
import { waitFor } from './wait.ts';

export const REACHED_MS = 600_000;

/** A run as the demo shows it. */
export interface Run {
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
    cannotDo?: string[];
  } | null;
}

/** A repository on its way to an org. */
export interface Stage {
  api: DemoClient;
  repositoryIdentifier: string;
  say: Say;
}

/** Starts a run, approves it where that is asked for, and follows it to its end. */
export async function ran({ api, repositoryIdentifier, say }: Stage, payload: object): Promise<Run> {
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

/** Throws where a run has failed. */
export function succeeded(run: Run): Run {
  if (run.success?.error) throw new OperatorError(`The run ${run.id} failed: ${run.success.error}`);
  return run;
}

/** Says what a deployment changed. */
export function sayDeployed({ say }: Stage, { status, success, result }: Run): void {
  const { form, reason, components = 0, deletions = 0, changes = {}, tests, pendingDeletions = 0 } = result ?? {};
  if (form !== undefined) say(`  ${form}: ${components} components, ${deletions} deletions. ${reason}`);
  const changed = Object.entries(changes).map(([what, count]) => `${count} ${what}`);
  const run = tests?.run ? [`${tests.run - (tests.failed ?? 0)} of ${tests.run} test methods passed`] : [];
  say(`  ${status}: ${[...changed, ...run].join(', ') || 'nothing changed'}`);
  if (pendingDeletions > 0) say(`  ${pendingDeletions} components stay that are gone from the source`);
  if (success?.error) say(`  ${success.error}`);
}
