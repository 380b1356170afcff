import { OperatorError } from '../operator-error.ts';
import type { CollaborationPlace, Say } from './collaborate.ts';
import { waitFor } from './wait.ts';

const SIMULATOR = new URL('../../test/simulators/git-hosts.ts', import.meta.url).href;
const REACHED_MS = 60_000;
/** What the simulator takes of a person, and of the service. */
const TOKEN_OF_DANA = 'token-of-dana';
const TOKEN_OF_SERVICE = 'host-token';

interface Issue {
  number: number;
  title: string;
  body: string | null;
  state: string;
  labels: string[];
  author: string;
  comments: { body: string; author: string }[];
}
interface Host {
  url: string;
  issues: { all: Issue[] };
  close: () => Promise<void>;
}

/**
 * An issue with a payload on a simulated git host, the approval that it needs, the pipeline that executes it, the
 * comment that says so, and the closed issue.
 */
export async function showWorkItems({ api, url, suffix, say }: CollaborationPlace): Promise<void> {
  const { gitHost } = (await import(SIMULATOR)) as { gitHost: (platform: string) => Promise<Host> };
  const host = await gitHost('host-a');
  const repositoryIdentifier = `demo/requests-${suffix}`;
  say('work items: a simulator of a git host was started on this machine; no issue is real');
  try {
    await api.post('/api/projects', { identifier: repositoryIdentifier, platform: 'host-a', defaultBranch: 'main' });
    await api.post('/api/integrations', {
      kind: 'host-a',
      name: `demo ${suffix}`,
      repositoryIdentifier,
      baseUrl: host.url,
      credentials: { type: 'token', token: TOKEN_OF_SERVICE },
    });
    await api.post('/api/environments', {
      repositoryIdentifier,
      name: 'uat',
      category: 'test',
      orgUsername: `uat-${suffix}@demo.example.com`,
      approvalPolicy: { allowSelfApproval: true },
    });
    const made = await api.post('/api/work-items/with-payload', {
      projectIdentifier: repositoryIdentifier,
      title: 'Install HarbourCore in UAT',
      body: 'The pricing team tests on Monday.',
      labels: ['automation'],
      authToken: TOKEN_OF_DANA,
      payload: {
        id: 'install-packages',
        repositoryIdentifier,
        environmentName: 'uat',
        packages: { HarbourCore: '1.4.0-7' },
        pipeline: { id: 'install.yml', ref: 'main' },
      },
      triggerFlow: true,
    });
    const issue = host.issues.all.at(-1);
    const run = (made.flowExecution as { id: string } | undefined)?.id;
    if (!issue || run === undefined) throw new OperatorError('The issue was not created, or no run was started.');
    say(`  issue ${issue.number} by ${issue.author}: ${issue.title}; its text:`);
    for (const line of (issue.body ?? '').split('\n')) say(`    | ${line}`);
    await sayRequest({ api, say }, made.id as string, 'open');
    await approve({ api, say }, run);
    const started = await waitFor(
      () => api.get(`/api/flows/runs/${run}`),
      ({ cicdRunUrl }) => cicdRunUrl !== null,
      REACHED_MS,
    );
    if (!started) throw new OperatorError('The pipeline was not started in time.');
    say(`  the pipeline runs: ${started.cicdRunUrl as string}`);
    await sayRequest({ api, say }, made.id as string, 'in_progress');
    await reportSuccess({ api, url, suffix }, { repositoryIdentifier, run });
    await sayRequest({ api, say }, made.id as string, 'completed');
    await waitFor(
      async () => issue.labels,
      (labels) => labels.includes('quayside:done'),
      REACHED_MS,
    );
    for (const { author, body } of issue.comments) {
      say(`  comment by ${author}:`);
      for (const line of body.split('\n')) say(`    | ${line}`);
    }
    say(`  labels: ${issue.labels.join(', ')}; in five minutes the service would close the issue, which is done now:`);
    await api.post(`/api/work-items/host-a/${issue.number}/close`, { projectIdentifier: repositoryIdentifier });
    await sayRequest({ api, say }, made.id as string, 'closed');
    say(`  issue ${issue.number} is ${issue.state}`);
  } finally {
    await host.close();
  }
  say('  the simulator is stopped; the project stays');
}

/** Reports the success of a pipeline that has ended. */
async function reportSuccess(
  { api, url, suffix }: Pick<CollaborationPlace, 'api' | 'url' | 'suffix'>,
  { repositoryIdentifier, run }: { repositoryIdentifier: string; run: string },
): Promise<void> {
  const { id, token } = await api.post('/api/application-tokens', {
    name: `demo-pipeline-${suffix}`,
    projects: [repositoryIdentifier],
  });
  const { ok, status } = await fetch(`${url}/api/flows/internal/${run}/callback`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token as string}`, 'content-type': 'application/json' },
    body: JSON.stringify({ event: 'completed' }),
  });
  if (!ok) throw new OperatorError(`The callback of the pipeline was answered with ${status}.`);
  await api.delete(`/api/application-tokens/${id as string}`);
}

type Teller = Pick<CollaborationPlace, 'api'> & { say: Say };

async function sayRequest({ api, say }: Teller, id: string, status: string): Promise<void> {
  const request = await waitFor(
    () => api.get(`/api/work-items/requests/${id}`),
    (shown) => shown.status === status,
    REACHED_MS,
  );
  if (!request) throw new OperatorError(`The request did not become ${status} in time.`);
  const events = (request.history as { event: string }[]).map(({ event }) => event).join(', ');
  say(`  the request is ${status}${events === '' ? '' : `: ${events}`}`);
}

async function approve({ api, say }: Teller, executionId: string): Promise<void> {
  const find = async () =>
    ((await api.get('/api/flows/approvals')).items as { id: string; executionId: string }[]).find(
      (approval) => approval.executionId === executionId,
    );
  const approval = await waitFor(find, (found) => found !== undefined, REACHED_MS);
  if (!approval) throw new OperatorError('No approval was asked for in time.');
  await api.post(`/api/flows/approvals/${approval.id}/approve`, { comment: 'for the test on Monday' });
  say('  its run needed an approval, and has it');
}
