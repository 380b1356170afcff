import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { addHost, SESSIONS_PATH, sessionStage } from '../../../support/browser-sessions.ts';
import { engineAway } from '../../../support/launch.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: engineAway, env: { BROWSER_SESSIONS_PER_TENANT: '2' } });
});
afterAll(() => app.close());

test('a tenant has so many open local sessions at most, also when it asks for several at the same time', async () => {
  const stage = await sessionStage(app);
  await addHost(app, { id: newId(), queue: `host-${newId()}` });
  const prNumbers = [await stage.pullRequest(), await stage.pullRequest(), await stage.pullRequest()];
  const { repositoryIdentifier } = stage;
  const owner = app.as(app.owner);
  const replies = await Promise.all(
    prNumbers.map((prNumber) =>
      owner.send('POST', `${SESSIONS_PATH}/record-for-pr`, { body: { repositoryIdentifier, prNumber } }),
    ),
  );
  expect(replies.map(({ status }) => status).toSorted()).toEqual([202, 202, 429]);
  const refused = prNumbers[replies.findIndex(({ status }) => status === 429)] ?? 0;
  await expect(stage.record(refused, {}, 429)).resolves.toMatchObject({ code: 'rate_limited' });
  const { items } = await owner.get(200, SESSIONS_PATH);
  await owner.post(200, `${SESSIONS_PATH}/${items[0].id}/stop`);
  await expect(stage.record(refused)).resolves.toMatchObject({ provider: 'local', status: 'provisioning' });
});
