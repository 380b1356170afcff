import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { processesOf } from '../../../activities/browser-host/chromium/processes.ts';
import { crmSimulator } from '../../simulators/crm-org/simulator.ts';
import { testApp } from '../../support/app.ts';
import { orgStage } from '../../support/browser-host.ts';
import { startProcess } from '../../support/process.ts';
import { play } from '../../support/recordings.ts';
import { hostEnvironment } from '../../../tools/host-environment.ts';
import { eventually, startWorker } from '../../support/worker.ts';

/** States and ids of processes, ended ones apart that nobody has asked about. */
const ps = (args: readonly string[]): Promise<string[]> =>
  promisify(execFile)('ps', ['-o', 'stat=,pid=', ...args]).then(
    ({ stdout }) => stdout.split('\n').filter((line) => line !== '' && !line.startsWith('Z')),
    // There is none.
    () => [],
  );
const running = (pids: readonly number[]) => ps(['-p', pids.join()]);
const childrenOf = async (pid: number) =>
  (await ps(['--ppid', String(pid)])).map((line) => Number(line.trim().split(/\s+/)[1]));

test('of a host that is killed while it records, the session fails and the part that was stored can be played', async () => {
  const [crm, app] = await Promise.all([crmSimulator(), testApp()]);
  const queues = ['environment-locks-v1', 'crm-v1', 'flows-v1', 'system-v1'];
  const [worker, host, stage] = await Promise.all([
    startWorker(app, queues),
    startProcess('activities/browser-host', { ...hostEnvironment(app.env), BROWSER_SPARES: '0' }),
    orgStage(app, crm),
  ]);
  try {
    const { id } = await stage.record((await stage.pullRequestWithOrg()).prNumber);
    await stage.becomes(id, 'live');
    await eventually(
      () => app.sql<{ segments: number }>('select segments from browser_replay_page where session_id = ?', [id]),
      ([page]) => (page?.segments ?? 0) > 0,
    );
    const processes = (await childrenOf(host.pid)).flatMap((pid) => [pid, ...processesOf(pid)]);
    expect(processes.length).toBeGreaterThan(5);
    await host.kill('SIGKILL');
    // Its last heartbeat is long ago when that is asked.
    await app.sql(`update browser_host set seen_at = now() - interval '1 hour'`);
    const [failed] = await Promise.all([
      eventually(
        () => stage.read(id),
        ({ status }) => status === 'error',
      ),
      eventually(
        () => running(processes),
        (left) => left.length === 0,
      ),
    ]);
    expect(failed).toMatchObject({ statusReason: 'host_lost' });
    const ended = await eventually(
      () => stage.read(id),
      ({ recording }) => recording.state === 'partial',
    );
    expect(ended.recording).toMatchObject({ pages: 1 });
    const { pictures, seconds, playlist } = await play(app, id);
    expect(pictures).toBeGreaterThan(0);
    expect(seconds).toBeGreaterThan(0);
    expect(playlist).toMatch(/#EXT-X-ENDLIST\n$/);
  } finally {
    await host.kill('SIGKILL');
    await worker.stop();
    await Promise.all([app.close(), crm.close()]);
  }
});
