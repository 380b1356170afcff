import { createApprovalActivities } from '../../../../activities/delivery/approvals/approvals.activities.ts';
import { approvalContract, recheckSignal } from '../../../../workflows/delivery/approvals/approval.contract.ts';
import { activityDeps } from '../../../support/activities.ts';
import { testApp } from '../../../support/app.ts';
import { recording, replay } from '../../../support/histories.ts';
import { insertRun, insertUser } from '../../../support/factories.ts';
import { startWorker } from '../../../support/worker.ts';

test.each(['decided', 'expired'])('an approval that is %s goes on with the code of today', (name) =>
  replay(`approval-${name}`),
);

/**
 * Records the histories anew: `RECORD_HISTORIES=1 npm test -- test/workflows/delivery/approvals/replay`. One approval is looked
 * after again, approved by one, and refused by another; the other expires.
 */
recording('records the histories', async ({ keep }) => {
  const app = await testApp();
  const worker = await startWorker(app, ['approvals-v1']);
  const activities = activityDeps(app);
  try {
    const repositoryIdentifier = 'acme/shop';
    const owner = app.as(app.owner);
    await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
    await owner.post(201, '/api/environments', { repositoryIdentifier, name: 'uat', category: 'release' });
    await insertUser(app.db, 'pipeline@acme.example');
    const request = async (approvalPolicy: object): Promise<string> => {
      const runId = await insertRun(app, {
        repositoryIdentifier,
        requestedBy: 'pipeline@acme.example',
        payload: { environmentName: 'uat', approvalPolicy },
      });
      return (await createApprovalActivities(activities.deps).openApproval({ ...app.tenantKey, runId })).approvalId;
    };
    const record = (approvalId: string, name: string) =>
      keep(
        `approval-${name}`,
        app.launch.idOf(approvalContract, {
          ...app.tenantKey,
          approvalId,
          taskType: 'execute-release',
          repositoryIdentifier,
        }),
      );
    const decided = await request({ approvers: [app.owner.email, app.member.email], minApprovals: 2 });
    await owner.post(200, `/api/flows/approvals/${decided}/approve`, {});
    await app.launch.signalWithStart(
      approvalContract,
      { ...app.tenantKey, approvalId: decided, taskType: 'execute-release', repositoryIdentifier },
      recheckSignal,
    );
    await app.as(app.member).post(200, `/api/flows/approvals/${decided}/reject`, { comment: 'not yet' });
    await record(decided, 'decided');
    await record(await request({ expiresAfter: 'PT1S' }), 'expired');
  } finally {
    await worker.stop();
    await activities.close();
    await app.close();
  }
});
