import { parseArgs } from 'node:util';
import { untilStopped } from '../control-server.ts';
import { ACTIONS, slackControl } from './control.ts';
import { slackSimulator } from './slack.ts';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '4010' }, control: { type: 'string', default: '0' } },
});
const slack = await slackSimulator(Number(values.port));
const workspace = slack.addWorkspace('Acme');
const control = await slackControl(slack, Number(values.control));

process.stdout.write(
  [
    'This is a simulator of Slack on this machine: no workspace is real, and its tokens open nothing else.',
    `A service that uses it is started with SLACK_API_URL=${slack.apiUrl}`,
    '',
    `POST /api/slack/workspace ${JSON.stringify(workspace.connection)}`,
    '',
    `Control: ${control.url}`,
    ...ACTIONS.map((action) => `  ${action}`),
    '',
  ].join('\n'),
);

untilStopped(() => {
  control.close();
  void slack.close();
});
