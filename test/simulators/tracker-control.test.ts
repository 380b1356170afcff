import { gitHost, hostCredentials } from './git-hosts.ts';
import { trackerControl } from './trackers/control.ts';
import { jiraCredentials, jiraSite } from './trackers/jira.ts';

test('simulated trackers are listed, filled, limited and made to fail from outside', async () => {
  const trackers = {
    'host-a': await gitHost('host-a'),
    'host-b': await gitHost('host-b'),
    'tracker-a': await jiraSite(),
  };
  const credentials = { 'host-a': hostCredentials, 'host-b': hostCredentials, 'tracker-a': jiraCredentials };
  const control = await trackerControl(trackers, credentials);
  const act = async (method: string, path: string, body?: object) => {
    const response = await fetch(control.url + path, { method, ...(body && { body: JSON.stringify(body) }) });
    return { status: response.status, body: await response.text() };
  };
  try {
    expect(JSON.parse((await act('GET', '/')).body)).toMatchObject({
      isSimulator: true,
      trackers: [{ kind: 'host-a', baseUrl: trackers['host-a'].url }, { kind: 'host-b' }, { kind: 'tracker-a' }],
    });
    await act('POST', '/host-a/issues', { repository: 'acme/shop', title: 'An issue' });
    await act('POST', '/host-b/work-items', { place: 'acme/shop', fields: { 'System.Title': 'A task' } });
    await act('POST', '/tracker-a/issues', { project: 'SHOP', summary: 'A story' });
    expect(JSON.parse((await act('GET', '/host-a')).body)).toMatchObject([{ number: 1, title: 'An issue' }]);
    expect(JSON.parse((await act('GET', '/host-b')).body)).toMatchObject([{ fields: { 'System.Title': 'A task' } }]);
    expect(JSON.parse((await act('GET', '/tracker-a')).body)).toMatchObject([{ key: 'SHOP-1' }]);

    const statusOf = async () =>
      (await fetch(`${trackers['host-a'].url}/user`, { headers: { authorization: `Bearer ${hostCredentials.token}` } }))
        .status;
    await act('POST', '/host-a/limit', { remaining: 0, seconds: 60 });
    expect(await statusOf()).toBe(403);
    await act('POST', '/host-a/limit', {});
    await act('POST', '/host-a/faults', { fault: { status: 503 }, path: '/user' });
    expect([await statusOf(), await statusOf()]).toEqual([503, 200]);
    for (const path of ['/nowhere', '/host-a/nothing']) expect((await act('POST', path, {})).status).toBe(400);
  } finally {
    control.close();
    await Promise.all(Object.values(trackers).map((server) => server.close()));
  }
});
