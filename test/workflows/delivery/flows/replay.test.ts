import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checksChangedSignal, flowChecksContract } from '../../../../workflows/delivery/flows/flow-checks.contract.ts';
import { scheduledFlowContract } from '../../../../workflows/delivery/flows/scheduled-flow.contract.ts';
import { workflowIdOfRun } from '../../../support/run-key.ts';
import type { Json } from '../../../support/client.ts';
import { testApp } from '../../../support/app.ts';
import { cutRelease } from '../../../support/releases.ts';
import { recording, replay } from '../../../support/histories.ts';
import { gitHost, hostCredentials } from '../../../simulators/git-hosts.ts';
import { eventually, startWorker } from '../../../support/worker.ts';

const HISTORIES = [
  'gated',
  'cancelled',
  'pipeline',
  'staged',
  'abandoned-pipeline',
  'lock-lost',
  'window',
  'rollback',
] as const;

test.each(['flow-checks', 'scheduled-flow'])('what stands beside a run goes on with the code of today: %s', (name) =>
  replay(name),
);

test.each(HISTORIES)('a run that is under way goes on with the code of today: %s', (name) =>
  replay(`flow-run-${name}`),
);

/**
 * Records the histories anew: `RECORD_HISTORIES=1 npm test -- test/workflows/delivery/flows/replay`. One run passes approval and
 * lock and runs a command, one is cancelled in its line, one loses its lock,
 * one waits for its window, finds it closed when it has the lock and waits again, one follows a pipeline, one has children in stages,
 * one rolls a release back.
 */
recording('records the histories', async ({ keep }) => {
  const folder = mkdtempSync(join(tmpdir(), 'quayside-replay-'));
  const commandsFile = join(folder, 'commands.json');
  writeFileSync(
    commandsFile,
    JSON.stringify({
      'execute-release': { program: '/bin/true' },
      'run-apex-tests': { program: '/bin/sleep', args: ['3'] },
      'install-packages': { program: '/bin/sleep', args: ['60'] },
    }),
  );
  const host = await gitHost('host-a');
  const app = await testApp({ env: { COMMANDS_FILE: commandsFile, OUTBOUND_ALLOW: '127.0.0.0/8' } });
  const worker = await startWorker(app, ['flows-v1', 'commands-v1', 'approvals-v1', 'environment-locks-v1']);
  try {
    const owner = app.as(app.owner);
    const repositoryIdentifier = 'acme/shop';
    await owner.post(201, '/api/projects', {
      identifier: repositoryIdentifier,
      platform: 'host-a',
      configuration: { approvalPolicy: { skipApproval: true } },
    });
    for (const [name, orchestrationOrder] of [
      ['uat', 1],
      ['prod', 2],
    ] as const) {
      await owner.post(201, '/api/environments', {
        repositoryIdentifier,
        name,
        category: 'release',
        orchestrationOrder,
      });
    }
    await owner.post(201, '/api/environments', {
      repositoryIdentifier,
      name: 'guarded',
      category: 'test',
      approvalPolicy: { allowSelfApproval: true },
    });
    const release = { repositoryIdentifier, domain: 'core', releaseName: 'r1' };
    await cutRelease(app, repositoryIdentifier, 'r1');
    const start = async (payload: object): Promise<string> =>
      (await owner.post(202, '/api/flows/run', { payload: { ...release, ...payload } })).id;
    const shown = (id: string): Promise<Json> => owner.get(200, `/api/flows/runs/${id}`);
    const reached = (id: string, status: string) =>
      eventually(
        () => shown(id),
        ({ rawStatus }) => rawStatus === status,
      );
    const record = async (name: string, id: string) => {
      await eventually(
        () => shown(id),
        ({ success }) => success !== null,
      );
      await keep(`flow-run-${name}`, await workflowIdOfRun(app, id));
    };

    const holder = await start({ id: 'run-apex-tests', environmentName: 'guarded' });
    await reached(holder, 'running');
    const gated = await start({ id: 'execute-release', environmentName: 'guarded' });
    await reached(gated, 'waiting_approval');
    const { items } = await owner.get(200, '/api/flows/approvals');
    await owner.post(200, `/api/flows/approvals/${items[0].id}/approve`, {});
    await reached(gated, 'waiting_lock');
    const cancelled = await start({ id: 'run-apex-tests', environmentName: 'guarded' });
    await reached(cancelled, 'waiting_lock');
    await owner.post(200, `/api/flows/runs/${cancelled}/cancel`);
    await record('cancelled', cancelled);
    await record('gated', gated);
    const environments: Json[] = await owner.get(200, `/api/environments?repositoryIdentifier=${repositoryIdentifier}`);
    const guarded = environments.find(({ name }) => name === 'guarded');
    const path = `/api/environments/${guarded.id}`;
    const freeze = { from: '2020-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z', reason: 'always' };
    const setFrozen = (isFrozen: boolean) =>
      owner.patch(200, path, { promotion: isFrozen ? { freezes: [freeze] } : null });
    await setFrozen(true);
    const { ticketId } = await owner.post(201, `${path}/locks`, {});
    const window = await start({ id: 'execute-release', environmentName: 'guarded' });
    await reached(window, 'waiting_approval');
    const open = await owner.get(200, '/api/flows/approvals');
    await owner.post(200, `/api/flows/approvals/${open.items[0].id}/approve`, {});
    await reached(window, 'waiting_window');
    await setFrozen(false);
    await reached(window, 'waiting_lock');
    await setFrozen(true);
    await owner.delete(204, `${path}/locks/${ticketId}`);
    await reached(window, 'waiting_window');
    await setFrozen(false);
    await record('window', window);
    const lost = await start({ id: 'install-packages', environmentName: 'uat' });
    await reached(lost, 'running');
    await app.sql(`update environment_lock_ticket set expires_at = now() - interval '1 second' where state = 'held'`);
    const next = await start({ id: 'execute-release', environmentName: 'uat' });
    await record('lock-lost', lost);
    await reached(next, 'succeeded');
    await cutRelease(app, repositoryIdentifier, 'r2');
    await reached(await start({ id: 'execute-release', releaseName: 'r2', environmentName: 'uat' }), 'succeeded');
    const rollback = { id: 'rollback-release', releaseName: undefined, environmentName: 'uat' };
    await record('rollback', await start(rollback));
    await owner.post(201, '/api/integrations', {
      kind: 'host-a',
      name: 'host',
      baseUrl: host.url,
      credentials: hostCredentials,
    });
    const pipeline = await start({ id: 'build', pipeline: { id: 'build.yml' } });
    await eventually(
      () => shown(pipeline),
      ({ cicdRunUrl }) => cicdRunUrl !== null,
    );
    await app.as(app.application).post(204, `/api/flows/internal/${pipeline}/callback`, { event: 'completed' });
    await record('pipeline', pipeline);
    const abandoned = await start({ id: 'build', pipeline: { id: 'build.yml' } });
    await eventually(
      () => shown(abandoned),
      ({ cicdRunUrl }) => cicdRunUrl !== null,
    );
    await owner.post(200, `/api/flows/runs/${abandoned}/cancel`);
    await record('abandoned-pipeline', abandoned);
    await record('staged', await start({ id: 'request-release' }));
    const checked = { ...app.tenantKey, runId: pipeline, workflowPath: null };
    for (let n = 0; n < 3; n++) await app.launch.signalWithStart(flowChecksContract, checked, checksChangedSignal);
    await keep('flow-checks', app.launch.idOf(flowChecksContract, checked));
    const { id: scheduleId } = await owner.post(201, '/api/flows/schedules', {
      name: 'nightly',
      cron: '0 3 * * *',
      payload: { id: 'execute-release', ...release, environmentName: 'uat' },
    });
    const scheduled = { ...app.tenantKey, scheduleId, name: 'nightly' };
    await app.launch.start(scheduledFlowContract, scheduled);
    await keep('scheduled-flow', app.launch.idOf(scheduledFlowContract, scheduled));
  } finally {
    await worker.stop();
    await host.close();
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
