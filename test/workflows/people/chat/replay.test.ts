import { chatLaneContract } from '../../../../workflows/people/chat/chat-lane.contract.ts';
import { slackSimulator } from '../../../simulators/slack/slack.ts';
import { testApp } from '../../../support/app.ts';
import { connectedWorkspace } from '../../../support/chat.ts';
import { recording, replay } from '../../../support/histories.ts';
import { eventually, startWorker } from '../../../support/worker.ts';

test('a chat lane that is under way goes on with the code of today', () => replay('chat-lane'));

/**
 * Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/people/chat/replay`. A command waits for Slack
 * longer than the pump does, another one comes meanwhile, the lane completes.
 */
recording('records the history', async ({ handleOf, keep }) => {
  const slack = await slackSimulator();
  const app = await testApp({ env: { SLACK_API_URL: slack.apiUrl } });
  const worker = await startWorker(app, ['webhooks-v1']);
  try {
    const acme = await connectedWorkspace(app, slack, 'Acme');
    const [owner, member] = [acme.addUser('owner', app.owner.email), acme.addUser('member', app.member.email)];
    const { id: workspaceId } = await app.as(app.owner).get(200, '/api/slack/workspace');
    slack.fail({ kind: 'limit', method: 'users.info', retryAfter: 70 });
    await acme.command(owner, 'help');
    const workflowId = app.launch.idOf(chatLaneContract, { ...app.tenantKey, workspaceId });
    const handle = handleOf(workflowId);
    const hasTimer = async () => {
      const history = await handle.fetchHistory().catch(() => undefined);
      return history?.events?.some(({ timerStartedEventAttributes }) => timerStartedEventAttributes) ?? false;
    };
    await eventually(hasTimer, Boolean);
    await acme.command(member, 'help');
    await keep('chat-lane', workflowId);
  } finally {
    await worker.stop();
    await app.close();
    await slack.close();
  }
});
