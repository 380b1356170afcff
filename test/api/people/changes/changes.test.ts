import { TOPICS } from '../../../../domain/kernel/changes/topic-rules.ts';
import { LISTENER_NAME } from '../../../../domain/kernel/changes/change-listener.ts';
import { STREAMS_PER_CALLER } from '../../../../api/people/changes/change-streams.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Bearer } from '../../../support/client.ts';
import { eventually } from '../../../support/eventually.ts';
import { EventStream } from '../../../support/event-stream.ts';
import { idleEngine } from '../../../support/launch.ts';

let app: TestApp;
const opened: EventStream[] = [];
let made = 0;

beforeAll(async () => {
  // Streams show that they are there, and are checked, some times a second.
  app = await testApp({ launch: idleEngine, env: { SERVICE_PACE: '0.01' } });
});
afterEach(() => {
  for (const stream of opened.splice(0)) stream.close();
});
afterAll(() => app.close());

const owner = () => app.as(app.owner);
const follow = async (caller: Bearer = app.owner, query = '', headers: Record<string, string> = {}) => {
  const stream = await EventStream.open(app.url, `/api/changes${query}`, caller, headers);
  opened.push(stream);
  return stream;
};
const newProject = async (caller: Bearer = app.owner) => {
  const identifier = `acme/changes-${++made}`;
  const { id } = await app.as(caller).post(201, '/api/projects', { identifier, platform: 'host-a' });
  return { id: id as string, identifier };
};
const newWebhook = async (caller: Bearer = app.owner) => {
  const body = { name: `hook ${++made}`, event: 'flow.failed', config: { url: 'http://127.0.0.1:9/hook' } };
  return (await app.as(caller).post(201, '/api/webhooks', body)).id as string;
};

test('a stream begins with hello, and names what was changed in the tenant, with its repository, and nothing of it', async () => {
  const stream = await follow();
  const hello = await stream.next('hello');
  expect(hello.data).toEqual({ id: expect.stringMatching(/^[a-z0-9]+-\d+$/), heartbeatSeconds: 1, api: '1' });
  expect(hello.id).toBe(hello.data.id);
  const { id, identifier } = await newProject();
  await stream.named('project', id);
  // The sign-ins of the test's people may be told after it has begun.
  const told = stream.changes.filter(({ topic }) => topic !== 'session');
  expect(told).toEqual([{ topic: 'project', id, repositoryIdentifier: identifier }]);
});

test('comments come while nothing changes', async () => {
  const stream = await follow();
  const { comments } = stream;
  await newProject();
  await stream.named('project');
  while (stream.comments <= comments + 1) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(stream.events.map(({ event }) => event)).toEqual(['hello', 'changes']);
});

test('nobody is told of another tenant', async () => {
  const [mine, theirs] = [await follow(), await follow(app.stranger)];
  const other = await newProject(app.stranger);
  const own = await newProject();
  await theirs.named('project', other.id);
  await mine.named('project', own.id);
  expect(mine.changes.map(({ id }) => id)).toEqual([own.id]);
  expect(theirs.changes.map(({ id }) => id)).toEqual([other.id]);
});

test('topics that a role may not read are not sent', async () => {
  const [ofOwner, ofMember, ofApplication] = [await follow(), await follow(app.member), await follow(app.application)];
  const webhook = await newWebhook();
  const { id } = await newProject();
  for (const stream of [ofOwner, ofMember, ofApplication]) await stream.named('project', id);
  expect(ofOwner.changes.map((one) => one.topic)).toEqual(['webhook', 'project']);
  expect(ofOwner.changes[0]?.id).toBe(webhook);
  expect(ofMember.changes.map((one) => one.topic)).toEqual(['project']);
  expect(ofApplication.changes.map((one) => one.topic)).toEqual(['project']);
});

test('what needs attention is named to who may read what it is about', async () => {
  const [ofOwner, ofMember] = [await follow(), await follow(app.member)];
  const { id } = await owner().post(201, '/api/application-tokens', { name: `short-${++made}`, expiresIn: 10 });
  await owner().post(200, `/api/attention/token_expiring:${id}/acknowledge`);
  const project = await newProject();
  for (const stream of [ofOwner, ofMember]) await stream.named('project', project.id);
  expect(ofOwner.changes.map((one) => one.topic)).toContain('attention_item');
  expect(ofMember.changes.map((one) => one.topic)).toEqual(['project']);
});

test('a stream names only the topics and the repository that it was asked for', async () => {
  const mine = await newProject();
  const ofTopics = await follow(app.owner, '?topics=webhook,environment');
  const ofRepository = await follow(app.owner, `?repositoryIdentifier=${encodeURIComponent(mine.identifier)}`);
  await newProject();
  const webhook = await newWebhook();
  const body = { repositoryIdentifier: mine.identifier, name: 'uat', category: 'test' };
  const environment = await owner().post(201, '/api/environments', body);
  await ofTopics.named('environment', environment.id);
  await ofRepository.named('environment', environment.id);
  expect(ofTopics.changes.map(({ id }) => id)).toEqual([webhook, environment.id]);
  expect(ofRepository.changes.map(({ id }) => id)).toEqual([environment.id]);
});

test('the reference lists the topics; others, and repositories that are not known, are refused', async () => {
  const { paths } = await app.as().get(200, '/openapi.json');
  const { schema } = paths['/api/changes'].get.parameters.find(({ name }: { name: string }) => name === 'topics');
  expect(schema.items.enum).toEqual(TOPICS);
  expect((await owner().get(400, '/api/changes?topics=project,nothing')).errors[0].pointer).toBe('#/query/topics/1');
  await owner().get(400, '/api/changes?repositoryIdentifier=acme%2Fnever');
});

test('a token that is limited to projects is told of these, and of their collections', async () => {
  const [mine, other] = [await newProject(), await newProject()];
  const body = { name: `limited-${++made}`, projects: [mine.identifier] };
  const limited = await owner().post(201, '/api/application-tokens', body);
  const stream = await follow(limited);
  await app
    .as(limited)
    .request(400, 'GET', `/api/changes?repositoryIdentifier=${encodeURIComponent(other.identifier)}`);
  const newEnvironment = async (repositoryIdentifier: string) =>
    (await owner().post(201, '/api/environments', { repositoryIdentifier, name: 'uat', category: 'test' }))
      .id as string;
  await newEnvironment(other.identifier);
  await owner().post(201, '/api/users', { email: `new-${made}@example.com`, role: 'member', team: 'core' });
  const [ownDocs, otherDocs] = [`repo:${mine.identifier}`, `repo:${other.identifier}`];
  for (const name of [otherDocs, ownDocs]) {
    const address = `/api/doc-store/collections/${encodeURIComponent(name)}/docs/a%2Fb`;
    await owner().post(201, address, { value: { n: 1 } });
  }
  const environment = await newEnvironment(mine.identifier);
  await stream.named('environment', environment);
  await stream.named('document_collection', ownDocs);
  expect(stream.changes.toSorted((a, b) => (a.topic < b.topic ? -1 : 1))).toEqual([
    { topic: 'document_collection', id: ownDocs, repositoryIdentifier: null },
    { topic: 'environment', id: environment, repositoryIdentifier: mine.identifier },
  ]);
});

test('a stream that comes back goes on where it was; one that cannot is reset', async () => {
  const first = await follow();
  const before = await newProject();
  await first.named('project', before.id);
  first.close();
  const missed = await newProject();
  const again = await follow(app.owner, '', { 'last-event-id': first.lastEventId });
  await again.named('project', missed.id);
  expect(again.changes.map(({ id }) => id)).toEqual([missed.id]);
  for (const id of ['0123456789abcdef-4', 'whatever']) {
    const lost = await follow(app.owner, '', { 'last-event-id': id });
    expect((await lost.next('reset')).data).toEqual({ reason: 'other_epoch' });
    const { id: later } = await newProject();
    await lost.named('project', later);
    expect(lost.changes.map((one) => one.id)).toEqual([later]);
  }
});

test('a listener that is cut resets every stream, and goes on', async () => {
  const [stream, other] = [await follow(), await follow(app.stranger)];
  const [cut] = await app.sql<{ cut: number }>(
    `select count(pg_terminate_backend(pid))::int as cut from pg_stat_activity
     where datname = current_database() and application_name = ?`,
    [LISTENER_NAME],
  );
  expect(cut?.cut).toBe(1);
  for (const each of [stream, other]) expect((await each.next('reset')).data.reason).toMatch(/^(interrupted|resumed)$/);
  const resumed = (each: EventStream) => each.events.some(({ data }) => data.reason === 'resumed');
  while (!resumed(stream) || !resumed(other)) await new Promise((resolve) => setTimeout(resolve, 20));
  const { id } = await newProject();
  await stream.named('project', id);
  expect(stream.changes.map((one) => one.id)).toEqual([id]);
});

test('a stream ends when its credential is revoked or its session ends, and follows a change of role', async () => {
  const token = await owner().post(201, '/api/application-tokens', { name: `revoked-${++made}` });
  const [kept, ofToken] = [await follow(), await follow(token)];
  await owner().delete(204, `/api/application-tokens/${token.id}`);
  expect((await ofToken.next('bye')).data).toEqual({ reason: 'credential', retryWithinMs: 5_000 });
  await ofToken.ended();
  const signedIn = await app.signIn(app.member);
  const ofSession = await follow(signedIn);
  await app.as(signedIn).post(204, '/api/auth/logout', { refresh_token: signedIn.refreshToken });
  expect((await ofSession.next('bye')).data.reason).toBe('credential');
  await app.as(token).get(401, '/api/changes');
  const ofMember = await follow(app.member);
  const roles = (role: string) =>
    app.sql(
      'update membership set role = ? where tenant_id = ? and user_id = (select id from user_account where email = ?)',
      [role, app.tenant.id, app.member.email],
    );
  await roles('owner');
  await eventually(newWebhook, () => ofMember.changes.some(({ topic }) => topic === 'webhook'));
  await roles('member');
  const { id } = await newProject();
  await kept.named('project', id);
});

test('a caller has so many streams at a time, and others have theirs', async () => {
  const streams = [];
  for (let at = 0; at < STREAMS_PER_CALLER; at++) streams.push(await follow(app.member));
  const refused = await app.as(app.member).request(503, 'GET', '/api/changes');
  expect(refused.headers.get('retry-after')).toBe('5');
  await follow(app.owner);
  streams[0]?.close();
  while ((await app.as(app.member).send('GET', '/api/changes')).status !== 200);
});
