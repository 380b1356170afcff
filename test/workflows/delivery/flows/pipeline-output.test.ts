import { gitHost, type GitHostSimulator, hostCredentials, type SimulatedJob } from '../../../simulators/git-hosts.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { endedRun } from '../../../support/ended-run.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const PLATFORMS = ['host-a', 'host-b', 'host-c'] as const;
type Platform = (typeof PLATFORMS)[number];
const REPOSITORY = { 'host-a': 'acme/shop', 'host-b': 'acme/sales/shop', 'host-c': 'group/sub/shop' };
/** States of jobs in the words of each host. */
const WORDS = {
  'host-a': { running: { state: 'in_progress' }, ended: { state: 'completed', result: 'success' } },
  'host-b': { running: { state: 'inProgress' }, ended: { state: 'completed', result: 'succeeded' } },
  'host-c': { running: { state: 'running' }, ended: { state: 'success' } },
};
const ENDED = { 'host-a': 'success', 'host-b': 'succeeded', 'host-c': 'success' };

let app: TestApp;
let worker: TestWorker;
const hosts = new Map<string, GitHostSimulator>();
const host = (platform: string): GitHostSimulator => hosts.get(platform) as GitHostSimulator;

beforeAll(async () => {
  app = await testApp({ env: { OUTBOUND_ALLOW: '127.0.0.0/8' } });
  worker = await startWorker(app, ['flows-v1']);
  const owner = app.as(app.owner);
  for (const platform of PLATFORMS) {
    const simulator = await gitHost(platform);
    hosts.set(platform, simulator);
    const credentials = hostCredentials;
    await owner.post(201, '/api/integrations', { kind: platform, name: platform, baseUrl: simulator.url, credentials });
    await owner.post(201, '/api/projects', { identifier: REPOSITORY[platform], platform });
  }
});
afterAll(async () => {
  await worker.stop();
  await Promise.all([...hosts.values()].map((simulator) => simulator.close()));
  await app.close();
});

/** A run whose pipeline was dispatched, with the jobs that the host knows of it. */
async function started(platform: Platform): Promise<{ id: string; pipelineId: string; jobs: SimulatedJob[] }> {
  const { id } = await app.as(app.owner).post(202, '/api/flows/run', {
    payload: { id: 'build', repositoryIdentifier: REPOSITORY[platform], pipeline: { id: '12', ref: 'main' } },
  });
  const { cicdRunUrl } = await eventually(
    () => app.as(app.owner).get(200, `/api/flows/runs/${id}`),
    (run) => run.cicdRunUrl !== null,
  );
  const pipelineId = String(/\d+$/.exec(cicdRunUrl)?.[0]);
  const jobs: SimulatedJob[] = [];
  host(platform).jobs.set(pipelineId, jobs);
  return { id, pipelineId, jobs };
}
async function outputOf(id: string): Promise<{ text: string; isComplete: string | null }> {
  const response = await fetch(`${app.url}/api/flows/runs/${id}/output`, {
    headers: { authorization: `Bearer ${app.owner.token}` },
  });
  return { text: await response.text(), isComplete: response.headers.get('x-output-complete') };
}
const shows = (id: string, text: string | RegExp) =>
  eventually(
    () => outputOf(id),
    (output) => (typeof text === 'string' ? output.text.includes(text) : text.test(output.text)),
  );
let lastJob = 500;
const newJob = (platform: Platform, name: string, log = ''): SimulatedJob => ({
  id: ++lastJob,
  name,
  stage: 'deploy',
  ...WORDS[platform].running,
  log,
});

test.each(PLATFORMS)(
  'on %s the output of a run tells of its pipeline as it goes on, each line once',
  async (platform) => {
    const { id, pipelineId, jobs } = await started(platform);
    const compile = newJob(platform, 'compile', 'one\nhost-token\nhalf a li');
    jobs.push(compile);
    const running = await shows(id, `compile: ${WORDS[platform].running.state}`);
    expect(running.isComplete).toBe('false');
    // Only host-a has no log of a job that goes on.
    if (platform !== 'host-a') expect((await shows(id, /compile\] one/)).text).not.toContain('half a li');
    compile.log += 'ne\nthree\n';
    Object.assign(compile, WORDS[platform].ended);
    jobs.push(newJob(platform, 'test'));
    const { text } = await shows(id, /compile\] three/);
    const lines = text.split('\n').filter((line) => line.includes('compile]'));
    expect(lines.map((line) => line.replace(/^\[.*\] /, ''))).toEqual(['one', '***', 'half a line', 'three']);
    expect(text).not.toContain('host-token');
    Object.assign(jobs[1] ?? {}, WORDS[platform].ended, { log: 'all passed' });
    host(platform).ended.set(pipelineId, ENDED[platform]);
    expect(await endedRun(app, { id })).toMatchObject({ status: 'Completed' });
    const all = await outputOf(id);
    expect(all.text).toMatch(/test\] all passed\n$/);
    expect(all.isComplete).toBe('true');
  },
);

test('a host that fails to tell leaves the run as it is, and tells later', async () => {
  const { id, pipelineId, jobs } = await started('host-c');
  host('host-c').failNext({ status: 500, body: {} }, { path: /\/jobs/, times: 2 });
  jobs.push({ ...newJob('host-c', 'late', 'it came\n'), ...WORDS['host-c'].ended });
  await shows(id, /late\] it came/);
  host('host-c').ended.set(pipelineId, 'success');
  expect(await endedRun(app, { id })).toMatchObject({ status: 'Completed' });
});

test('a run that its pipeline ends by a report shows what was printed by then, and does not say that this is all', async () => {
  const { id, jobs } = await started('host-b');
  jobs.push(newJob('host-b', 'deploy', 'deployed\n'));
  await app.as(app.application).post(204, `/api/flows/internal/${id}/callback`, { event: 'completed' });
  expect(await endedRun(app, { id })).toMatchObject({ status: 'Completed' });
  const { text, isComplete } = await outputOf(id);
  expect([text.includes('deploy] deployed'), isComplete]).toEqual([true, 'false']);
});
