import { parseArgs } from 'node:util';
import { untilStopped } from '../control-server.ts';
import { gitHost, hostCredentials } from '../git-hosts.ts';
import { ACTIONS, trackerControl } from './control.ts';
import { jiraCredentials, jiraSite } from './jira.ts';

const { values } = parseArgs({ options: { control: { type: 'string', default: '0' } } });
const credentials = { 'host-a': hostCredentials, 'host-b': hostCredentials, 'tracker-a': jiraCredentials };
const trackers = {
  'host-a': await gitHost('host-a'),
  'host-b': await gitHost('host-b'),
  'tracker-a': await jiraSite(),
};
const control = await trackerControl(trackers, credentials, Number(values.control));

process.stdout.write(
  [
    'These are simulators of GitHub, Azure DevOps and Jira on this machine: their credentials open nothing else.',
    'A service that uses them needs OUTBOUND_ALLOW=127.0.0.0/8 (the default outside production), and integrations:',
    '',
    ...Object.entries(trackers).map(
      ([kind, { url }]) =>
        `  ${kind.padEnd(10)} baseUrl ${url}, credentials ${JSON.stringify(credentials[kind as keyof typeof credentials])}`,
    ),
    '',
    `Control: ${control.url}`,
    ...ACTIONS.map((action) => `  ${action}`),
    '',
  ].join('\n'),
);

untilStopped(() => {
  control.close();
  for (const server of Object.values(trackers)) void server.close();
});
