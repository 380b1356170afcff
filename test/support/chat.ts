import type { SlackSimulator } from '../simulators/slack/slack.ts';
import type { SlackWorkspace } from '../simulators/slack/workspace.ts';
import type { TestApp } from './app.ts';
import type { Bearer } from './client.ts';

/** A simulated workspace with the app of a tenant, as its owner connects it. */
export async function connectedWorkspace(
  app: TestApp,
  slack: SlackSimulator,
  name: string,
  owner: Bearer = app.owner,
): Promise<SlackWorkspace> {
  const workspace = slack.addWorkspace(name);
  const manifest = await app.as(owner).request(200, 'GET', '/api/slack/manifest');
  workspace.createApp(JSON.parse(manifest.text.replaceAll('http://quayside.test', app.url)));
  await app.as(owner).post(201, '/api/slack/workspace', workspace.connection);
  return workspace;
}
