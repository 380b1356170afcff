import { flowRunContract } from '../../../../workflows/delivery/flows/flow-run.contract.ts';
import { keyOfRun } from '../../../support/run-key.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const QUEUES = ['flows-v1', 'commands-v1', 'environment-locks-v1', 'approvals-v1'];
const PROJECT = 'acme/shop';
const PATH = `/api/projects/${encodeURIComponent(PROJECT)}`;

let app: TestApp;
let worker: TestWorker;
beforeAll(async () => {
  app = await testApp({ commands: ['install-packages'] });
  worker = await startWorker(app, QUEUES);
});
afterAll(() => app.close());

test('runs of a project that is removed end, and keep no worker from stopping', async () => {
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: PROJECT, platform: 'host-a' });
  const environment = { repositoryIdentifier: PROJECT, name: 'busy', category: 'test' };
  const { id: environmentId } = await owner.post(201, '/api/environments', environment);
  await owner.post(201, `/api/environments/${environmentId}/locks`, {});
  const payload = { id: 'install-packages', repositoryIdentifier: PROJECT, environmentName: 'busy' };
  const { id } = await owner.post(202, '/api/flows/run', { payload });
  await eventually(
    () => owner.get(200, `/api/flows/runs/${id}`),
    ({ rawStatus }) => rawStatus === 'waiting_lock',
  );
  const key = await keyOfRun(app, id);
  await owner.delete(204, PATH);
  await owner.get(404, `/api/flows/runs/${id}`);
  await eventually(
    () => app.launch.stateOf(flowRunContract, key),
    (state) => state !== 'running',
  );
  await worker.stop();
});
