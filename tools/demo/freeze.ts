import { setTimeout as sleep } from 'node:timers/promises';
import type { DemoCandidate, DemoProject } from './changes.ts';
import type { DemoClient } from './client.ts';

interface Run {
  rawStatus: string;
  success: { isSuccess: boolean; error: string | null } | null;
  waitsFor: string | null;
  nextWindowAt: string | null;
}

const FREEZE_DAYS = 7;
const DAY_MS = 86_400_000;
const RUN_MS = 20_000;

/**
 * Freezes production and asks for releases to it: of a hotfix that nobody tried out, which is refused; of a candidate that
 * was in staging, which waits for the end of the freeze; and of the same when it must not wait, which fails. Nothing runs
 * on when the demo ends; the freeze stays.
 */
export async function showFreeze(
  api: DemoClient,
  { repositoryIdentifier, domain }: DemoProject,
  { candidate, hotfix }: { candidate: DemoCandidate; hotfix: DemoCandidate | undefined },
  say: (text: string) => void,
): Promise<void> {
  const environments = await api.get(`/api/environments?${new URLSearchParams({ repositoryIdentifier })}`);
  const production = Object.values(environments as Record<string, { id: string; name: string }>).find(
    ({ name }) => name === 'production',
  );
  if (!production) return;
  const [from, to] = [Date.now() - DAY_MS, Date.now() + FREEZE_DAYS * DAY_MS].map((at) => new Date(at).toISOString());
  await api.patch(`/api/environments/${production.id}`, {
    approvalPolicy: { skipApproval: true },
    promotion: { after: ['staging'], freezes: [{ from, to, reason: 'End of the quarter' }] },
  });
  // A run by a pipeline needs a credential of the project's git host; this one is never used, as no run begins.
  await api.post('/api/integrations', {
    kind: 'host-a',
    repositoryIdentifier,
    name: 'No git host',
    baseUrl: 'http://127.0.0.1:9',
    credentials: { type: 'token', token: 'none' },
  });
  say(`production is frozen until ${to}, and takes only what was in staging`);
  const payloadOf = ({ releaseName }: DemoCandidate) => ({
    id: 'execute-release',
    repositoryIdentifier,
    domain,
    releaseName,
    environmentName: 'production',
    // Nothing is asked of the git host while a run waits.
    pipeline: { id: 'deploy.yml' },
  });
  if (hotfix) {
    const reason = await api.refusal('/api/flows/run', { payload: payloadOf(hotfix) });
    say(`  a run for ${hotfix.releaseName}: ${reason ?? 'taken, although it was not in staging'}`);
  }
  const { id: waiting } = await api.post('/api/flows/run', { payload: payloadOf(candidate) });
  const run = await runOnce(api, waiting as string, ({ rawStatus }) => rawStatus === 'waiting_window');
  say(`  a run for ${candidate.releaseName}: ${run.rawStatus}, ${run.waitsFor}; next window ${run.nextWindowAt}`);
  await api.post(`/api/flows/runs/${waiting as string}/cancel`, {});
  const { id } = await api.post('/api/flows/run', { payload: { ...payloadOf(candidate), failOutsideWindow: true } });
  const failed = await runOnce(api, id as string, () => false);
  say(`  another that must not wait: ${failed.rawStatus}, ${failed.success?.error}`);
}

/** A run once it is as it should be, or has ended. */
async function runOnce(api: DemoClient, id: string, isIt: (run: Run) => boolean): Promise<Run> {
  const deadline = Date.now() + RUN_MS;
  for (;;) {
    const run = (await api.get(`/api/flows/runs/${id}`)) as unknown as Run;
    if (isIt(run) || run.success !== null || Date.now() > deadline) return run;
    await sleep(200);
  }
}
