import { slackControl } from './slack/control.ts';
import { slackSimulator } from './slack/slack.ts';

test('a simulated Slack is listed, filled and made to fail from outside', async () => {
  const slack = await slackSimulator();
  const workspace = slack.addWorkspace('Acme');
  const control = await slackControl(slack);
  const act = async (method: string, path: string, body?: object) => {
    const response = await fetch(control.url + path, { method, ...(body && { body: JSON.stringify(body) }) });
    return { status: response.status, body: await response.text() };
  };
  try {
    const { body } = await act('GET', '/');
    expect(JSON.parse(body)).toMatchObject({ isSimulator: true, workspaces: [{ teamId: workspace.teamId }] });
    await act('POST', `/${workspace.teamId}/users`, { name: 'dana', email: 'dana@example.com' });
    await act('POST', `/${workspace.teamId}/channels`, { id: 'C0RELEASES' });
    expect([...workspace.users.values()]).toMatchObject([{ name: 'dana', email: 'dana@example.com' }]);
    workspace.post('C0RELEASES', 'a message', []);
    const { body: messages } = await act('GET', `/${workspace.teamId}`);
    expect(JSON.parse(messages)).toMatchObject({ messages: [{ channel: 'C0RELEASES', text: 'a message' }] });
    await act('POST', '/faults', { kind: 'status', status: 503 });
    const call = async () => (await fetch(`${slack.apiUrl}auth.test`, { method: 'POST' })).status;
    expect([await call(), await call()]).toEqual([503, 200]);
    for (const path of ['/nowhere', `/${workspace.teamId}/nothing`])
      expect((await act('POST', path, {})).status).toBe(400);
  } finally {
    control.close();
    await slack.close();
  }
});
