import { gitHost, hostCredentials } from '../../../simulators/git-hosts.ts';
import { testApp } from '../../../support/app.ts';
import { recording, replay } from '../../../support/histories.ts';
import { eventually, startWorker } from '../../../support/worker.ts';
import {
  reportChangedSignal,
  workItemReportContract,
} from '../../../../workflows/work/work-item-requests/work-item-report.contract.ts';

test('a report to a work item that is under way goes on with the code of today', () => replay('work-item-report'));

/** Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/work/work-item-requests/replay`. */
recording('records the history', async ({ keep }) => {
  const host = await gitHost('host-a');
  const app = await testApp({ commands: ['install-packages'], env: { OUTBOUND_ALLOW: '127.0.0.0/8' } });
  const worker = await startWorker(app, ['flows-v1', 'commands-v1']);
  const owner = app.as(app.owner);
  const projectIdentifier = 'acme/shop';
  try {
    await owner.post(201, '/api/integrations', {
      kind: 'host-a',
      name: 'host',
      baseUrl: host.url,
      credentials: hostCredentials,
    });
    await owner.post(201, '/api/projects', {
      identifier: projectIdentifier,
      platform: 'host-a',
      configuration: { approvalPolicy: { skipApproval: true } },
    });
    const { id: requestId } = await owner.post(201, '/api/work-items/with-payload', {
      projectIdentifier,
      authToken: 'token-of-dana',
      payload: { id: 'install-packages', orgUsername: 'uat@acme.example.com' },
      triggerFlow: true,
    });
    await eventually(
      () =>
        app.sql(
          'select 1 from work_item_request where id = ? and close_due_at is not null and comment_id is not null',
          [requestId],
        ),
      (rows) => rows.length > 0,
    );
    await app.sql('update work_item_request set close_due_at = now() where id = ?', [requestId]);
    const input = { ...app.tenantKey, requestId, repositoryIdentifier: projectIdentifier };
    await app.launch.signalWithStart(workItemReportContract, input, reportChangedSignal);
    await keep('work-item-report', app.launch.idOf(workItemReportContract, input));
  } finally {
    await worker.stop();
    await app.close();
    await host.close();
  }
});
