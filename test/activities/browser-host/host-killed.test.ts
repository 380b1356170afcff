import { crmSimulator } from '../../simulators/crm-org/simulator.ts';
import { testApp } from '../../support/app.ts';
import { orgStage } from '../../support/browser-host.ts';
import { startProcess } from '../../support/process.ts';
import { eventually, startWorker } from '../../support/worker.ts';

test('of a host that is killed while it records, the session fails and the part that was stored can be played', async () => {
  const [crm, app] = await Promise.all([crmSimulator(), testApp()]);
  const queues = ['environment-locks-v1', 'crm-v1', 'flows-v1', 'system-v1'];
  const [worker, host, stage] = await Promise.all([
    startWorker(app, queues),
    startProcess('activities/browser-host', { ...app.env, BROWSER_SPARES: '0' }),
    orgStage(app, crm),
  ]);
  try {
    const { id } = await stage.record((await stage.pullRequestWithOrg()).prNumber);
    await stage.becomes(id, 'live');
    await eventually(
      () => app.sql<{ segments: number }>('select segments from browser_replay_page where session_id = ?', [id]),
      ([page]) => (page?.segments ?? 0) > 0,
    );
    await host.kill('SIGKILL');
    const failed = await eventually(
      () => stage.read(id),
      ({ status }) => status === 'error',
      25_000,
    );
    expect(failed).toMatchObject({ statusReason: 'host_lost' });
    const ended = await eventually(
      () => stage.read(id),
      ({ recording }) => recording.state === 'partial',
      40_000,
    );
    expect(ended.recording).toMatchObject({ pages: 1 });
    const { text } = await app.as(app.owner).request(200, 'GET', `/api/browser-sessions/${id}/replays/0`);
    expect(text).toContain('#EXTINF');
    expect(text).toMatch(/#EXT-X-ENDLIST\n$/);
  } finally {
    await host.kill('SIGKILL');
    await worker.stop();
    await Promise.all([app.close(), crm.close()]);
  }
}, 120_000);
