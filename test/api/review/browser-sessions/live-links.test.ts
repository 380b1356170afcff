import { json } from '../../../../domain/kernel/data/columns.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { testApp, type TestApp } from '../../../support/app.ts';
import { cookieOf } from '../../../support/browser-session.ts';
import type { Bearer, Json } from '../../../support/client.ts';
import { idleEngine } from '../../../support/launch.ts';
import { recordedSession } from '../../../support/recorded-session.ts';

const said = { logs: [] as string[], problems: [] as string[] };
let app: TestApp;
let projectId: string;

beforeAll(async () => {
  app = await testApp({ launch: idleEngine, said });
  const project = async (identifier: string): Promise<string> =>
    (await app.as(app.owner).post(201, '/api/projects', { identifier, platform: 'host-a' })).id;
  projectId = await project('acme/shop');
  await project('acme/other');
});
afterAll(() => app.close());

const live = (changes: object = {}) =>
  recordedSession(app, { projectId, isLive: true, recordingState: 'none', ...changes });
const at = (id: string, rest = '') => `/api/browser-sessions/${id}/live-links${rest}`;
const link = (id: string, body: object = {}, status = 201, caller: Bearer = app.owner): Promise<Json> =>
  app.as(caller).post(status, at(id), { mode: 'watch', minutes: 30, ...body });
const pathOf = ({ url }: { url: string }) => url.replace('http://quayside.test', '');
/** The cookie that opening a link gives. */
async function opened(made: { url: string }): Promise<string> {
  const answer = await app.as().request(302, 'GET', pathOf(made));
  return cookieOf(answer, '__Host-qs_live');
}
const stateOf = (id: string, cookie: string, status = 200) =>
  app.as().request(status, 'GET', `/browser-sessions/${id}/live/state`, { headers: { cookie } });

test('a link opens the page of its session without an account, and leaves the address at once', async () => {
  const id = await live();
  const made = await link(id, { mode: 'control' });
  expect(made).toMatchObject({ mode: 'control', createdBy: app.owner.email, revokedAt: null });
  expect(made.url).toMatch(`http://quayside.test/browser-sessions/${id}/live?link=`);
  const answer = await app.as().request(302, 'GET', pathOf(made));
  expect(answer.headers.get('location')).toBe(`/browser-sessions/${id}/live`);
  expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
  expect(answer.headers.getSetCookie()[0]).toMatch(/HttpOnly.*SameSite=Lax/);
  const cookie = cookieOf(answer, '__Host-qs_live');
  const page = await app.as().request(200, 'GET', `/browser-sessions/${id}/live`, { headers: { cookie } });
  expect(page.text).toContain('acme/shop');
  expect(page.headers.get('content-security-policy')).not.toContain('unsafe');
  expect((await stateOf(id, cookie)).body.viewer).toEqual({
    name: `guest of ${app.owner.email}`,
    isSignedIn: false,
    mayControl: true,
    mayChange: false,
  });
  // It opens this page, and nothing of the interface.
  await app.as().request(401, 'GET', `/api/browser-sessions/${id}`, { headers: { cookie } });
  await app.as({ token: new URL(made.url).searchParams.get('link') ?? '' }).get(401, `/api/browser-sessions/${id}`);
  expect(said.logs.join('')).not.toContain('link=');
  expect(said.logs.join('')).not.toMatch(/eyJ[\w-]{20}/);
});

test('links of several sessions are kept beside each other', async () => {
  const [first, second] = [await live(), await live()];
  const cookie = await opened(await link(first));
  const answer = await app.as().request(302, 'GET', pathOf(await link(second)), { headers: { cookie } });
  const both = cookieOf(answer, '__Host-qs_live');
  await stateOf(first, both);
  await stateOf(second, both);
  await stateOf(await live(), both, 404);
});

test('a revoked, expired, altered or foreign link opens nothing', async () => {
  const id = await live();
  const made = await link(id);
  const cookie = await opened(made);
  await stateOf(id, cookie);
  await app.as(app.owner).delete(204, at(id, `/${made.id}`));
  await app.as(app.owner).delete(204, at(id, `/${made.id}`));
  await stateOf(id, cookie, 404);
  await app.as().request(404, 'GET', pathOf(made));

  const expired = await link(id);
  await app.sql(`update browser_live_link set expires_at = now() - interval '1 second' where id = ?`, [expired.id]);
  await app.as().request(404, 'GET', pathOf(expired));

  const good = pathOf(await link(id));
  for (const altered of [`${good}x`, good.replace(/.$/, ''), `${good.split('=')[0]}=x`, good.replace(id, newId())])
    await app.as().request(404, 'GET', altered);
  const elsewhere = await live();
  await app.as().request(404, 'GET', good.replace(id, elsewhere));
});

test('a link ends with its session, and when the session is deleted', async () => {
  const id = await live();
  const cookie = await opened(await link(id));
  await app.sql(`update browser_session set status = 'ended', ended_at = now() where id = ?`, [id]);
  await stateOf(id, cookie, 404);
  await link(id, {}, 409);
  const removed = await live();
  const other = await opened(await link(removed));
  await app.as(app.owner).delete(204, `/api/browser-sessions/${removed}`);
  await stateOf(removed, other, 404);
});

test('members make links for their own sessions; other tenants and projects see nothing', async () => {
  const id = await live();
  const made = await link(id);
  await link(id, {}, 403, app.member);
  await app.as(app.member).get(403, at(id));
  await app.as(app.member).delete(403, at(id, `/${made.id}`));
  for (const caller of [app.stranger, app.strangerApplication]) {
    await link(id, {}, 404, caller);
    await app.as(caller).get(404, at(id));
    await app.as(caller).delete(404, at(id, `/${made.id}`));
  }
  const { id: memberId } = await app.as(app.member).get(200, '/api/users/me');
  const createdBy = { type: 'user', id: memberId, ...app.tenantKey, role: 'member', email: app.member.email };
  await app.db
    .updateTable('browser_session')
    .set({ createdBy: json(createdBy as never) })
    .where('id', '=', id)
    .execute();
  await link(id, {}, 201, app.member);
  const { token } = await app.as(app.owner).post(201, '/api/application-tokens', {
    name: 'limited',
    projects: ['acme/other'],
  });
  await link(id, {}, 404, { token });
  await app.as({ token }).get(404, at(id));
  await app.as({ token }).delete(404, at(id, `/${made.id}`));
});

test('a link lasts no longer than the session may, and a session has twenty', async () => {
  const id = await live();
  await app.sql(`update browser_session set created_at = now() - interval '50 minutes' where id = ?`, [id]);
  const { expiresAt, createdAt } = await link(id, { minutes: 60 });
  expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBeLessThanOrEqual(600_000);
  const links = await Promise.all(Array.from({ length: 19 }, () => link(id)));
  await link(id, {}, 409);
  await app.as(app.owner).delete(204, at(id, `/${links[0].id}`));
  await link(id);
  const { items } = await app.as(app.owner).get(200, at(id));
  expect(items).toHaveLength(21);
  expect(JSON.stringify(items)).not.toContain('link=');
});

test('a link ends when who made it may change the session no more', async () => {
  const id = await live();
  const { id: tokenId, token } = await app.as(app.owner).post(201, '/api/application-tokens', { name: 'maker' });
  const cookie = await opened(await link(id, { mode: 'control' }, 201, { token }));
  await stateOf(id, cookie);
  await app.as(app.owner).delete(204, `/api/application-tokens/${tokenId}`);
  await stateOf(id, cookie, 404);

  const { id: memberId } = await app.as(app.member).get(200, '/api/users/me');
  const createdBy = { type: 'user', id: memberId, ...app.tenantKey, role: 'member', email: app.member.email };
  const setCreator = (to: object) =>
    app.db
      .updateTable('browser_session')
      .set({ createdBy: json(to as never) })
      .where('id', '=', id)
      .execute();
  await setCreator(createdBy);
  const theirs = await opened(await link(id, { mode: 'control' }, 201, app.member));
  await stateOf(id, theirs);
  await setCreator({ ...createdBy, id: newId() });
  await stateOf(id, theirs, 404);
});

test('sessions that are watched elsewhere have no links', async () => {
  await link(await live({ provider: 'external' }), {}, 409);
});

test('a guest by a link is not given the address of a hosted browser, and reads why', async () => {
  const id = await live({ provider: 'browserbase' });
  const cookie = await opened(await link(id, { mode: 'control' }));
  const page = await app.as().request(200, 'GET', `/browser-sessions/${id}/live`, { headers: { cookie } });
  expect(page.text).toContain('to nobody by a link');
  expect(page.text).not.toContain('<iframe');
});

test('making and revoking stands in the trail and on the timeline', async () => {
  const id = await live();
  const made = await link(id);
  await app.as(app.owner).delete(204, at(id, `/${made.id}`));
  const rows = await app.sql<{ action: string; source: string }>(
    'select action, source from audit_entry where entity_id = ? order by sequence',
    [id],
  );
  expect(rows).toEqual([
    { action: 'browser_session.link_created', source: 'browser' },
    { action: 'browser_session.link_revoked', source: 'browser' },
  ]);
  const { timeline } = await app.as(app.owner).get(200, `/api/browser-sessions/${id}`);
  expect(timeline.map(({ kind }: Json) => kind)).toEqual(['link_revoked', 'link_created']);
});

test('the page asks to sign in, and says nothing of the sessions of others', async () => {
  const id = await live();
  for (const unknown of [id, newId(), 'x']) {
    const { headers } = await app.as().request(302, 'GET', `/browser-sessions/${unknown}/live`);
    expect(headers.get('location')).toBe(
      `/api/auth/sign-in?${new URLSearchParams({ next: `/browser-sessions/${unknown}/live` })}`,
    );
  }
  const shown = await app.as(app.member).request(200, 'GET', `/browser-sessions/${id}/live`);
  expect(shown.text).toContain('acme/shop');
  const hidden = await app.as(app.stranger).request(404, 'GET', `/browser-sessions/${id}/live`);
  const never = await app.as(app.stranger).request(404, 'GET', `/browser-sessions/${newId()}/live`);
  expect(hidden.text).toBe(never.text);
  expect(hidden.text).not.toContain('shop');
});
