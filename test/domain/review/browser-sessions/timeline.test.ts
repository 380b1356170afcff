import type { WorkerBackend } from '../../../../activities/backend.ts';
import {
  guestOf,
  type LiveViewer,
  viewerOf,
} from '../../../../domain/review/browser-sessions/live/live-viewer-rules.ts';
import { extendSession } from '../../../../domain/review/browser-sessions/sessions.mutations.ts';
import { noteControl } from '../../../../domain/review/browser-sessions/timeline.mutations.ts';
import { type Actor, systemActor } from '../../../../domain/kernel/shared/actor.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { activityDeps } from '../../../support/activities.ts';
import { testApp, type TestApp } from '../../../support/app.ts';
import { idleEngine } from '../../../support/launch.ts';
import { recordedSession } from '../../../support/recorded-session.ts';

let app: TestApp;
let backend: WorkerBackend;
let projectId: string;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
  backend = activityDeps(app);
  const project = { identifier: 'acme/shop', platform: 'host-a' };
  projectId = (await app.as(app.owner).post(201, '/api/projects', project)).id;
});
afterAll(async () => {
  await backend.close();
  await app.close();
});

const takes = (viewer: LiveViewer, sessionId: string, previous?: LiveViewer) =>
  backend.deps.actingAs(viewer.actor)((tx) => noteControl(tx, sessionId, viewer, previous));

test('who takes control of a live browser stands in the trail and on the timeline, users and guests alike', async () => {
  const id = await recordedSession(app, { projectId, isLive: true, recordingState: 'none' });
  const { id: userId, email } = await app.as(app.member).get(200, '/api/users/me');
  const user: Actor = { type: 'user', id: userId, ...app.tenantKey, role: 'member', email };
  const { id: linkId } = await app
    .as(app.owner)
    .post(201, `/api/browser-sessions/${id}/live-links`, { mode: 'control', minutes: 30 });
  const byUser = viewerOf({ asks: 'control', by: user, linkId: null });
  const byGuest = viewerOf({
    asks: 'control',
    by: guestOf({ ...app.tenantKey, linkId }, { ...user, email: app.owner.email }),
    linkId,
  });
  await takes(byUser, id);
  await takes(byGuest, id, byUser);

  const guest = `guest of ${app.owner.email}`;
  const entries = await app.sql(
    `select source, action, repository_identifier, summary, after, actor->>'email' as email, actor->>'id' as actor_id
     from audit_entry where entity_id = ? and action = 'browser_session.control_taken' order by sequence`,
    [id],
  );
  const entry = { source: 'browser', action: 'browser_session.control_taken', repository_identifier: 'acme/shop' };
  const subject = 'Browser session of review@example.com';
  expect(entries).toEqual([
    { ...entry, summary: `${subject}: ${email} took control`, after: { linkId: null }, email, actor_id: userId },
    {
      ...entry,
      summary: `${subject}: ${guest} took control from ${email}`,
      after: { linkId },
      email: guest,
      actor_id: `live-link:${linkId}`,
    },
  ]);
  const { timeline } = await app.as(app.owner).get(200, `/api/browser-sessions/${id}`);
  expect(timeline.slice(0, 2)).toMatchObject([
    { kind: 'control', summary: `${guest} took control from ${email}`, by: guest, data: { linkId } },
    { kind: 'control', summary: `${email} took control`, by: email, data: { linkId: null } },
  ]);
});

test('control of a session that is gone is noted nowhere', async () => {
  const by: Actor = { type: 'user', id: newId(), ...app.tenantKey, role: 'owner', email: 'late@example.com' };
  await takes(viewerOf({ asks: 'control', by, linkId: null }), newId());
  await expect(app.sql(`select id from audit_entry where actor->>'email' = 'late@example.com'`)).resolves.toEqual([]);
});

test('an extension that is executed again, as after a lost answer, is made once', async () => {
  const id = await recordedSession(app, { projectId, isLive: true, recordingState: 'none' });
  const extend = (extensionId: string) =>
    backend.deps.actingAs(systemActor(app.tenantKey, 'test'))((tx) =>
      extendSession(tx, id, { minutes: 7, extensionId }),
    );
  const [first, second] = [newId(), newId()];
  const once = await extend(first);
  await extend(second);
  const repeated = await extend(first);
  expect(new Date(repeated.expiresAt).getTime() - new Date(once.expiresAt).getTime()).toBe(7 * 60_000);
  const { timeline } = await app.as(app.owner).get(200, `/api/browser-sessions/${id}`);
  expect(timeline).toMatchObject([
    { kind: 'extended', data: { extensionId: second } },
    { kind: 'extended', data: { extensionId: first } },
  ]);
});
