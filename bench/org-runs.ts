import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { SimulatedOrg } from '../test/simulators/crm-org/org.ts';
import { crmSimulator } from '../test/simulators/crm-org/simulator.ts';
import { newRepository } from '../test/support/repository.ts';
import { sourceOf } from '../test/support/source-builds.ts';
import { Figures } from './figures.ts';
import { type Service, startService } from './service.ts';

/**
 * Measures what runs cost that the service follows in orgs: the share of a core that one worker takes while so many orgs
 * deploy at once, and while so many sandboxes are copied that were begun four hours ago and are half done, beyond what it takes without them; and
 * how long it takes to freeze many users where the org answers after 100 ms. Of the sandboxes there is a fiftieth, which are
 * polled fifty times as often, by a worker without sweeps, which would come as often, too. Options:
 * `--rounds 3`, `--seconds 60` of a round, `--deployments 50`, `--sandboxes 1000`, `--users 2000`; 0 leaves a part out.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '60' },
    deployments: { type: 'string', default: '50' },
    sandboxes: { type: 'string', default: '1000' },
    users: { type: 'string', default: '2000' },
  },
});
const [ROUNDS, SECONDS, DEPLOYMENTS, SANDBOXES, USERS] = [
  Number(options.rounds),
  Number(options.seconds),
  Number(options.deployments),
  Number(options.sandboxes),
  Number(options.users),
];
/** By which pauses between the polls of sandboxes are shorter, and sandboxes fewer. */
const PACE = 0.02;
const COPIED_FOR_MS = 4 * 3_600_000;
const LATENCY_MS = 100;
const REPOSITORY = 'bench/org-runs';
const AT_ONCE = 10;

interface Run {
  id: string;
  success: { error: string | null } | null;
}

process.env.ALLOW_LOCAL_GIT = 'true';
const crm = await crmSimulator([]);
const remote = newRepository();
const figures = new Figures();
let service: Service;

const run = (payload: object): Promise<Run> =>
  service.call('POST', '/api/flows/run', { payload: { repositoryIdentifier: REPOSITORY, ...payload } });

async function ended({ id }: Run): Promise<void> {
  for (;;) {
    const { success } = await service.call<Run>('GET', `/api/flows/runs/${id}`);
    if (success?.error) throw new Error(success.error);
    if (success) return;
    await sleep(LATENCY_MS);
  }
}

async function register(org: SimulatedOrg): Promise<SimulatedOrg> {
  await service.call('POST', '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
  return org;
}

async function some(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, at) => work(from + at)));
}

async function until(isSo: () => boolean, what: string): Promise<void> {
  const from = performance.now();
  while (!isSo()) await sleep(LATENCY_MS);
  console.log(`${what} after ${((performance.now() - from) / 1_000).toFixed(0)} s`);
}

/** What the worker takes of a core while no run is there. */
async function idle(): Promise<number> {
  const cpu = service.measureCpu();
  const from = performance.now();
  await sleep(SECONDS * 1_000);
  const { worker = 0 } = cpu();
  const percent = (worker / (performance.now() - from)) * 100;
  figures.note('no run: core of worker', percent, '%');
  return percent;
}

/**
 * What each process takes of a core, by windows of time; and what a poll costs.
 * @param idlePercent what the worker takes of a core by itself.
 */
async function share(
  name: string,
  target: string,
  isPoll: (path: string) => boolean,
  idlePercent?: number,
): Promise<void> {
  for (let round = 1; round <= ROUNDS; round++) {
    const asked = crm.requests.length;
    const cpu = service.measureCpu();
    const from = performance.now();
    await sleep(SECONDS * 1_000);
    const used = cpu();
    const passedMs = performance.now() - from;
    const polls = crm.requests.slice(asked).filter(({ path }) => isPoll(path)).length;
    for (const [process, ms] of Object.entries(used))
      figures.note(
        `${name}: core of ${process}`,
        (ms / passedMs) * 100,
        '%',
        process === 'worker' && idlePercent === undefined ? target : '',
      );
    if (idlePercent !== undefined)
      figures.note(
        `${name}: core of worker for them`,
        ((used.worker ?? 0) / passedMs) * 100 - idlePercent,
        '%',
        target,
      );
    figures.note(`${name}: polls per second`, (polls / passedMs) * 1_000, '');
    figures.noteCpu(`${name}, a poll`, used, polls);
  }
}

async function deployments(): Promise<void> {
  const commitId = remote.commit({
    files: { ...sourceOf.project([{ path: 'app' }]), ...sourceOf.apexClass('app', 'Invoice') },
  });
  const orgs: SimulatedOrg[] = [];
  for (let index = 0; index < DEPLOYMENTS; index++) {
    const org = await register(await crm.addOrg({ name: `deployed-${index}`, kind: 'sandbox' }));
    org.deployments.polls = { pending: 0, components: Number.MAX_SAFE_INTEGER, tests: 0, finalizing: 0 };
    orgs.push(org);
  }
  const runs: Run[] = [];
  await some(orgs.length, async (index) => {
    runs.push(await run({ id: 'install-artifacts', commitId, orgUsername: orgs[index]?.username }));
  });
  await until(() => orgs.every((org) => org.deployments.all.length === 1), 'all orgs deploy');
  await share(`${DEPLOYMENTS} orgs deploy`, '<= 25', (path) => path.includes('/deployRequest/'));
  for (const org of orgs) org.deployments.polls.components = 0;
  await Promise.all(runs.map(ended));
}

async function sandboxes(): Promise<void> {
  const count = SANDBOXES * PACE;
  await sleep(SECONDS * 1_000);
  const idlePercent = await idle();
  const production = await register(await crm.addOrg({ name: 'production', kind: 'production' }));
  production.copies.addGroup('Testers');
  const ageing = setInterval(() => {
    for (const { name } of production.sandboxes) production.copies.progress(name, 50);
    for (const copy of production.sandboxes) copy.createdAt = new Date(Date.now() - COPIED_FOR_MS);
  }, LATENCY_MS);
  try {
    await some(count, async (index) =>
      run({
        id: 'request-sandbox-create',
        productionUsername: production.username,
        sandboxName: `s${index}`,
        licenseType: 'Developer',
        activationGroup: 'Testers',
      }),
    );
    await until(() => production.sandboxes.length === count, 'all sandboxes are copied');
    await sleep(SECONDS * 1_000);
    const isPoll = (path: string) => decodeURIComponent(path).includes('FROM SandboxProcess WHERE Id');
    await share(`${SANDBOXES} sandboxes are copied`, '<= 2', isPoll, idlePercent);
  } finally {
    clearInterval(ageing);
  }
}

async function people(): Promise<void> {
  const org = await register(await crm.addOrg({ name: 'people', kind: 'production' }));
  for (let index = 0; index < USERS; index++) org.people.addUser(`user-${index}@bench.example`);
  org.latencyMs = LATENCY_MS;
  for (let round = 1; round <= ROUNDS; round++) {
    const asked = crm.requests.length;
    const cpu = service.measureCpu();
    const from = performance.now();
    await ended(await run({ id: 'request-freeze-users', orgUsername: org.username, allExcept: [] }));
    figures.note(`${USERS} users frozen`, (performance.now() - from) / 1_000, 's', '<= 20');
    figures.note(`${USERS} users frozen: calls`, crm.requests.length - asked, '');
    figures.noteCpu(`${USERS} users frozen, a user`, cpu(), USERS);
    await ended(await run({ id: 'request-unfreeze-users', orgUsername: org.username, allExcept: [] }));
  }
}

async function withService(queues: readonly string[], parts: () => Promise<void>): Promise<void> {
  service = await startService(['flows-v1', 'crm-v1', 'git-v1', 'approvals-v1', ...queues]);
  try {
    await service.call('POST', '/api/projects', {
      identifier: REPOSITORY,
      platform: 'host-a',
      remoteUrl: remote.path,
      configuration: { approvalPolicy: { skipApproval: true } },
    });
    await parts();
  } finally {
    await service.stop();
  }
}

try {
  if (USERS + DEPLOYMENTS > 0)
    await withService(['system-v1'], async () => {
      if (USERS > 0) await people();
      if (DEPLOYMENTS > 0) await deployments();
    });
  process.env.SERVICE_PACE = String(PACE);
  if (SANDBOXES > 0) await withService([], sandboxes);
  figures.print();
} finally {
  await crm.close();
  remote.remove();
}
