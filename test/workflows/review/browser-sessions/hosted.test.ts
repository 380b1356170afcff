import { createBrowserbaseAccess } from '../../../../activities/adapters/browserbase/browserbase-access.ts';
import { createBrowserbase } from '../../../../activities/adapters/browserbase/browserbase.ts';
import { outboundAddresses } from '../../../../domain/kernel/outbound/outbound-addresses.ts';
import { type BrowserbaseSimulator, browserbaseSimulator } from '../../../simulators/browserbase/simulator.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { orgStage } from '../../../support/browser-host.ts';
import { SESSIONS_PATH as PATH, startSessionWorkers } from '../../../support/browser-sessions.ts';
import type { Json } from '../../../support/client.ts';
import { eventually, type TestWorker } from '../../../support/worker.ts';

let app: TestApp;
let crm: CrmSimulator;
let simulator: BrowserbaseSimulator;
let stage: Awaited<ReturnType<typeof orgStage>>;
let worker: TestWorker;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  [app, crm, simulator] = await Promise.all([testApp(), crmSimulator(), browserbaseSimulator()]);
  const { deps, close } = activityDeps(app);
  const browserbase = createBrowserbase({
    outbound: outboundAddresses('127.0.0.0/8'),
    accessOf: createBrowserbaseAccess(deps),
    now: deps.now,
    timeoutMs: 60_000,
    pace: 0.1,
  });
  closing.push(browserbase.close, close);
  worker = await startSessionWorkers(app, [{ ...browserbase, pollMs: 50 }]);
  stage = await orgStage(app, crm);
  await app.as(app.owner).post(201, '/api/integrations', {
    kind: 'browser',
    name: 'Browsers',
    baseUrl: simulator.url,
    credentials: { type: 'token', token: simulator.apiKey },
  });
});
afterAll(async () => {
  await worker.stop();
  for (const close of closing) await close();
  await Promise.all([app.close(), crm.close(), simulator.close()]);
});

/** A session that is live, as its record and as the provider has it. */
async function live() {
  const { prNumber, org } = await stage.pullRequestWithOrg();
  const requested = await stage.record(prNumber, { allowedHosts: ['docs.acme.example'] });
  const session = await stage.becomes(requested.id, 'live');
  const allocated = simulator.sessions.find(({ id }) => id === session.providerSessionId);
  if (!allocated) throw new Error('the provider does not know the session');
  return { session, allocated, org };
}
const hasRecording = (id: string, state: string): Promise<Json> =>
  eventually(
    () => stage.read(id),
    ({ recording }) => recording.state === state,
  );

test('a hosted browser shows the org behind its front door, is released when it is stopped, and its recording is played', async () => {
  const { session, allocated, org } = await live();
  expect(session).toMatchObject({ provider: 'browserbase', isolation: null, recording: { state: 'recording' } });
  expect(allocated).toMatchObject({ status: 'RUNNING', userMetadata: { quaysideSession: session.id } });
  expect(allocated.visited).toEqual([
    expect.stringContaining(`${org.url}/secur/frontdoor.jsp?`),
    'about:blank',
    `${org.url}/home`,
  ]);
  expect(allocated.history).toEqual([`${org.url}/home`]);
  await app.as(app.owner).post(200, `${PATH}/${session.id}/stop`);
  const { recording } = await hasRecording(session.id, 'ready');
  expect(recording).toMatchObject({ pages: 1 });
  expect(allocated.status).toBe('COMPLETED');
  const path = `${PATH}/${session.id}/replays/0`;
  const playlist = await app.as(app.member).request(200, 'GET', path);
  expect(playlist.text).toContain('#EXT-X-ENDLIST');
  const [, segment = ''] = /\n(?:http:\/\/quayside\.test)(\/\S+)/.exec(playlist.text) ?? [];
  expect((await app.as(app.member).request(200, 'GET', segment)).text).toContain('/segment-0.m4s');
});

test('a session goes on while its provider answers with pages and refusals, until the provider has lost it', async () => {
  const { session, allocated } = await live();
  const asked = () => simulator.requests.filter((each) => each === `GET /v1/sessions/${allocated.id}`).length;
  simulator.next({ kind: 'html' }, { kind: 'limited' }, { kind: 'status', status: 500 }, { kind: 'lost' });
  const before = asked();
  await eventually(
    async () => asked() - before,
    (times) => times > 5,
  );
  await expect(stage.read(session.id)).resolves.toMatchObject({ status: 'live' });
  simulator.lose(allocated.id);
  await expect(stage.becomes(session.id, 'error')).resolves.toMatchObject({ statusReason: 'session_lost' });
  await hasRecording(session.id, 'none');
});
