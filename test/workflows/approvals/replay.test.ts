import { readFileSync, writeFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { createApprovalActivities } from '../../../activities/approvals/approvals.activities.ts';
import { approvalContract } from '../../../workflows/approvals/approval.contract.ts';
import { activityDeps } from '../../support/activities.ts';
import { testApp } from '../../support/app.ts';
import { insertRun } from '../../support/runs.ts';
import { eventually, startWorker } from '../../support/worker.ts';

const historyOf = (name: string) => new URL(`../histories/approval-${name}.json`, import.meta.url);

test.each(['decided', 'expired'])('an approval that is %s goes on with the code of today', async (name) => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const workflowBundle = { codePath: process.env.QS_TEST_BUNDLE ?? '' };
  await Worker.runReplayHistory({ workflowBundle }, JSON.parse(readFileSync(historyOf(name), 'utf8')));
});

/**
 * Records the histories anew: `RECORD_HISTORIES=1 npm test -- test/workflows/approvals/replay`. One approval is looked
 * after again, approved by one, and refused by another; the other expires.
 */
(process.env.RECORD_HISTORIES ? test : test.skip)('records the histories', async () => {
  const app = await testApp();
  const worker = await startWorker(app, ['approvals-v1']);
  const activities = activityDeps(app);
  const connection = await Connection.connect({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '' });
  try {
    const repositoryIdentifier = 'acme/shop';
    const owner = app.as(app.owner);
    await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
    const request = async (approvalPolicy: object): Promise<string> => {
      const runId = await insertRun(app, { repositoryIdentifier, requestedBy: app.member.email, payload: { approvalPolicy } });
      return (await createApprovalActivities(activities.deps).openApproval({ tenantId: app.tenant.id, runId })).approvalId;
    };
    const record = async (approvalId: string, name: string) => {
      const input = { tenantId: app.tenant.id, approvalId, taskType: '', repositoryIdentifier };
      const handle = new Client({ connection }).workflow.getHandle(approvalContract.workflowId(input));
      await eventually(async () => (await handle.describe()).status.name, (status) => status === 'COMPLETED');
      writeFileSync(historyOf(name), historyToJSON(await handle.fetchHistory()));
    };
    const decided = await request({ approvers: [app.owner.email, app.member.email], minApprovals: 2 });
    await owner.post(200, `/api/flows/approvals/${decided}/approve`, {});
    await app.launch.signal(approvalContract, { tenantId: app.tenant.id, approvalId: decided, taskType: '', repositoryIdentifier }, 'recheck');
    await app.as(app.member).post(200, `/api/flows/approvals/${decided}/reject`, { comment: 'not yet' });
    await record(decided, 'decided');
    await record(await request({ expiresAfter: 'PT1S' }), 'expired');
  } finally {
    await worker.kill('SIGTERM');
    await Promise.all([connection.close(), activities.close()]);
    await app.close();
  }
}, 60_000);
