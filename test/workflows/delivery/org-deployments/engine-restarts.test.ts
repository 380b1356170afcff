import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningTemporal, startTemporal } from '../../../../tools/temporal-dev-server.ts';
import { freePort } from '../../../support/free-port.ts';
import { sourceOf } from '../../../support/source-builds.ts';
import { sourceRuns } from '../../../support/source-runs.ts';
import { eventually } from '../../../support/worker.ts';

test('a deployment whose Temporal server is restarted goes on, and is asked for once', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'quayside-engine-'));
  chmodSync(dataDir, 0o755);
  const options = { dataDir, port: await freePort(), uiPort: await freePort() };
  let engine: RunningTemporal = await startTemporal(options);
  let runs: Awaited<ReturnType<typeof sourceRuns>> | undefined;
  try {
    runs = await sourceRuns({ TEMPORAL_ADDRESS: engine.address });
    const { crm, remote, ended, begun } = runs;
    const shop = await runs.shop();
    shop.deployments.polls.components = 1_000_000;
    const commitId = remote.commit({
      files: { ...sourceOf.project([{ path: 'app' }]), ...sourceOf.apexClass('app', 'Invoice') },
    });
    const run = await shop.start({ commitId });
    await begun(run);
    const polls = () =>
      crm.requests.filter(({ org, path }) => org === shop.org.name && path.includes('/deployRequest/')).length;
    await eventually(
      async () => polls(),
      (count) => count > 0,
    );
    await engine.stop();
    const before = polls();
    engine = await startTemporal(options);
    await eventually(
      async () => polls(),
      (count) => count > before + 1,
    );
    shop.deployments.polls.components = 0;
    await expect(ended(run)).resolves.toMatchObject({ status: 'Completed', result: { components: 1 } });
    expect(shop.deployments.all).toHaveLength(1);
    expect(shop.deployments.ledger).toHaveLength(1);
  } finally {
    await runs?.close();
    await engine.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
