import { createStartUrlActivities } from '../../../../activities/review/browser-sessions/start-urls.activities.ts';
import {
  newStartUrlKey,
  type StartUrlKey,
} from '../../../../domain/review/browser-sessions/hosts/sealed-start-urls.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import { activityDeps } from '../../../support/activities.ts';
import { testApp, type TestApp } from '../../../support/app.ts';
import { orgStage } from '../../../support/browser-host.ts';
import { addHost } from '../../../support/browser-sessions.ts';
import { engineAway } from '../../../support/launch.ts';

let crm: CrmSimulator;
let app: TestApp;
let stage: Awaited<ReturnType<typeof orgStage>>;
let worker: ReturnType<typeof activityDeps>;
let key: StartUrlKey;
const hostId = newId();

beforeAll(async () => {
  [crm, app, key] = await Promise.all([crmSimulator(), testApp({ launch: engineAway }), newStartUrlKey()]);
  worker = activityDeps(app);
  stage = await orgStage(app, crm);
  await addHost(app, { id: hostId, queue: 'host-1', startUrlKey: key.publicKey });
});
afterAll(async () => {
  await worker.close();
  await Promise.all([app.close(), crm.close()]);
});

const open = (sessionId: string, of = hostId) =>
  createStartUrlActivities(worker.deps).openStartUrl({ ...app.tenantKey, sessionId, hostId: of });

test('a host is given what opens the org of an open session, which it alone can read', async () => {
  const { prNumber, org } = await stage.pullRequestWithOrg();
  const { id } = await stage.record(prNumber);
  const given = await open(id);
  if ('refused' in given) throw new Error(given.refused);
  const url = await key.open(given.sealed, id);
  expect(url.origin).toBe(org.url);
  expect(url.pathname).toContain('frontdoor');
  expect(given.sealed).not.toContain(url.search.slice(1));
  await expect((await newStartUrlKey()).open(given.sealed, id)).rejects.toThrow();

  const earlier = newId();
  await addHost(app, { id: earlier, queue: 'host-2' });
  const gone = { refused: 'The host of the browser is gone' };
  expect(await open(id, newId())).toEqual(gone);
  expect(await open(id, earlier)).toEqual(gone);
  await app.as(app.owner).post(200, `/api/browser-sessions/${id}/stop`);
  expect(await open(id)).toEqual({ refused: 'The session has ended' });
  expect(await open(newId())).toEqual({ refused: 'The session has ended' });
});

test('an org that does not open its front door is refused in words', async () => {
  const { prNumber, org } = await stage.pullRequestWithOrg();
  const { id } = await stage.record(prNumber);
  await app.sql('update browser_session set org_username = ? where id = ?', [`no-${org.username}`, id]);
  const { refused } = (await open(id)) as { refused: string };
  expect(refused).toContain(`no-${org.username}`);
});
