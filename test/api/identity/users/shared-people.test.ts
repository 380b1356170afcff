import { type TestApp, testApp } from '../../../support/app.ts';
import { acceptInvitationOf, insertUser } from '../../../support/factories.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const otherTenant = async () => {
  const { id } = await app.db.selectFrom('tenant').where('slug', '=', 'other').select('id').executeTakeFirstOrThrow();
  return { tenantId: id, tenantSlug: 'other' };
};
const pathOf = (email: string) => `/api/users/${encodeURIComponent(email)}`;

test('a person in two tenants is to each what that tenant says of them', async () => {
  const email = 'shared@people.example';
  const first = await app
    .as(app.owner)
    .post(201, '/api/users', { email, team: 'a', role: 'owner', firstName: 'Samira', lastName: 'Known' });
  await acceptInvitationOf(app, email);
  const second = await app.as(app.stranger).post(201, '/api/users', { email, team: 'b', role: 'member' });
  expect(second).toMatchObject({ isExistingUser: false, firstName: '', lastName: '' });
  expect(second.userId).not.toBe(first.userId);
  await acceptInvitationOf({ db: app.db, tenantKey: await otherTenant() }, email);
  await expect(app.as(app.stranger).get(200, pathOf(email))).resolves.toMatchObject({ id: first.userId });
  await app.as(app.stranger).put(200, pathOf(email), { firstName: 'Other' });
  await expect(app.as(app.stranger).get(200, pathOf(email))).resolves.toMatchObject({
    firstName: 'Other',
    role: 'member',
    teams: ['b'],
  });
  await expect(app.as(app.owner).get(200, pathOf(email))).resolves.toMatchObject({
    firstName: 'Samira',
    role: 'owner',
    teams: ['a'],
  });
  await app.as(app.stranger).delete(200, '/api/users', { email });
  await app.as(app.stranger).get(404, pathOf(email));
  await expect(app.as(app.owner).get(200, pathOf(email))).resolves.toMatchObject({ firstName: 'Samira', teams: ['a'] });
});

test('a user of another tenant is not there for any route', async () => {
  const stranger = app.as(app.stranger);
  const email = app.member.email;
  await stranger.get(404, pathOf(email));
  await stranger.get(404, `/api/users?lookup=email&id=${email}`);
  await stranger.put(404, pathOf(email), { role: 'owner' });
  await stranger.delete(404, '/api/users', { email });
  await stranger.post(404, `${pathOf(email)}/invite`);
  const { items } = await stranger.get(200, '/api/users');
  expect(items.map((user: { email: string }) => user.email)).not.toContain(email);
  const teams = await stranger.get(200, '/api/teams');
  expect(teams).not.toContainEqual(expect.objectContaining({ slug: 'a' }));
});

const claim = (userEmail: string, ...emails: string[]) =>
  app.sql<{ email: string; user_id: string }>(
    `select * from claim_aliases((select id from user_account where email = ?), 'host-a', ?::text[])`,
    [userEmail, `{${emails.join(',')}}`],
  );
const idOf = async (email: string) =>
  (await app.sql<{ id: string }>('select id from user_account where email = ?', [email]))[0]?.id;

test('an alias belongs to whom claims it first, and nobody claims an address of an account', async () => {
  await claim(app.owner.email, 'Both@people.example');
  const claimed = await claim(app.member.email, 'both@people.example', app.owner.email, 'mine@people.example');
  expect(claimed).toEqual([
    { email: 'both@people.example', user_id: await idOf(app.owner.email) },
    { email: 'mine@people.example', user_id: await idOf(app.member.email) },
    { email: app.owner.email, user_id: await idOf(app.owner.email) },
  ]);
  await expect(app.as(app.owner).get(200, pathOf('both@people.example'))).resolves.toMatchObject({
    email: app.owner.email,
  });
});

test('an invitation to another address of a member takes no role away', async () => {
  const owner = app.as(app.owner);
  const { teams } = await owner.get(200, pathOf(app.owner.email));
  const invite = (email: string, role: string) => owner.post(201, '/api/users', { email, team: teams[0], role });
  await invite('second@people.example', 'member');
  await claim(app.owner.email, 'second@people.example');
  await acceptInvitationOf(app, 'second@people.example');
  await expect(owner.get(200, pathOf(app.owner.email))).resolves.toMatchObject({ role: 'owner' });
});

test('who was removed does not come back by an invitation to another address', async () => {
  const owner = app.as(app.owner);
  const invite = (email: string) => owner.post(201, '/api/users', { email, team: 'leaving', role: 'member' });
  await invite('leaver@people.example');
  await acceptInvitationOf(app, 'leaver@people.example');
  await invite('leaver@home.example');
  await invite('stays@home.example');
  await claim('leaver@people.example', 'leaver@home.example');
  await owner.delete(200, '/api/users', { email: 'leaver@people.example' });
  const { items } = await owner.get(200, '/api/users?team=leaving');
  expect(items).toMatchObject([{ email: 'stays@home.example' }]);
});

test('of two who claim an alias at once, one gets it', async () => {
  const answers = await Promise.all([
    claim(app.owner.email, 'race@people.example'),
    claim(app.member.email, 'race@people.example'),
  ]);
  const holders = await app.sql('select 1 from user_alias where email = ?', ['race@people.example']);
  expect(holders).toHaveLength(1);
  expect(answers.flat().length).toBeGreaterThan(0);
});

test('no account is made of an alias of somebody else', async () => {
  await claim(app.member.email, 'alias@people.example');
  await app.as(app.stranger).post(201, '/api/users', { email: 'alias@people.example', team: 'c' });
  await expect(
    acceptInvitationOf({ db: app.db, tenantKey: await otherTenant() }, 'alias@people.example'),
  ).resolves.toBe(await idOf(app.member.email));
  await expect(insertUser(app.db, 'alias@people.example')).rejects.toThrow(/user_alias/);
});

test('a username at a host follows the account there, and does not move to another person of that account', async () => {
  const link = (email: string, externalId: string, username: string) =>
    app.sql<{ linked: boolean }>(
      `select link_identity((select id from user_account where email = ?), 'host-a', ?, ?) as linked`,
      [email, externalId, username],
    );
  const lookup = (status: number, username: string) =>
    app.as(app.owner).get(status, `/api/users?lookup=github&id=${username}`);
  await link(app.owner.email, '1', 'octo');
  await expect(link(app.member.email, '1', 'octo')).resolves.toEqual([{ linked: false }]);
  await expect(lookup(200, 'Octo')).resolves.toMatchObject({ email: app.owner.email });
  await link(app.owner.email, '1', 'renamed');
  await lookup(404, 'octo');
  await link(app.member.email, '2', 'octo');
  await expect(lookup(200, 'octo')).resolves.toMatchObject({ email: app.member.email });
  await link(app.member.email, '2', 'renamed');
  await expect(lookup(200, 'renamed')).resolves.toMatchObject({ email: app.member.email });
});
