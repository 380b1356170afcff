import { createProvisioning } from '../../../../domain/identity/users/provisioning.mutations.ts';
import { connectOrm } from '../../../../domain/orm.ts';
import { type Caller, type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { acceptInvitationOf, insertUser } from '../../../support/factories.ts';
import { AUDIENCE, openIdSimulator, type OpenIdSimulator } from '../../../simulators/openid-provider.ts';
import { type MailServer, mailServer } from '../../../simulators/mail-server.ts';

let app: TestApp;
let mail: MailServer;
let provider: OpenIdSimulator;
let third: { slug: string; owner: string };
let made = 0;
beforeAll(async () => {
  [mail, provider] = await Promise.all([mailServer(), openIdSimulator()]);
  app = await testApp({ env: { SMTP_URL: mail.url, OIDC_ISSUER: provider.issuer, OIDC_AUDIENCE: AUDIENCE } });
  const orm = connectOrm({ databaseUrl: app.databaseUrl, poolSize: 1 });
  const ownerEmail = 'owner@third.example';
  await createProvisioning(orm).createTenant({ slug: 'third', ownerEmail, password: 'a third good password' });
  await orm.close(true);
  const { access_token } = await login(200, { email: ownerEmail, password: 'a third good password' });
  third = { slug: 'third', owner: access_token };
});
afterAll(async () => {
  await app.close();
  await Promise.all([mail.close(), provider.close()]);
});

const login = (status: number, body: object) => app.as().post(status, '/api/auth/admin/login', body);
const tenantOf = (token: string): string =>
  (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { tenant: string }).tenant;
const slugOf = async (token: string) =>
  (await app.sql<{ slug: string }>('select slug from tenant where id = ?', [tenantOf(token)]))[0]?.slug;
const asThird = () => app.as({ token: third.owner });
const other = () => app.as(app.stranger);
const invite = (client: ReturnType<typeof other>, email: string, more: object = {}) =>
  client.post(201, '/api/users', { email, team: 'guests', ...more });
const linkTo = (email: string): string => {
  const text = mail.mails.findLast(({ to }) => to.includes(email))?.parsed.text ?? '';
  return /set-password\?token=([\w-]+)/.exec(text)?.[1] ?? '';
};
const pathOf = (email: string) => `/api/users/${encodeURIComponent(email)}`;

/** A member of acme with a password. */
async function person(): Promise<Caller> {
  const email = `person-${++made}@acme.example`;
  await invite(app.as(app.owner), email);
  await acceptInvitationOf(app, email);
  await app.sql(
    'update user_account set password_hash = (select password_hash from user_account where email = ?) where email = ?',
    [app.member.email, email],
  );
  const { access_token, refresh_token } = await login(200, { email, password: app.member.password });
  return { email, password: app.member.password, token: access_token, refreshToken: refresh_token };
}

const bearer = (status: number, token: string, tenant?: string): Promise<Json> =>
  app
    .as({ token })
    .request(status, 'GET', '/api/users/me', { headers: tenant === undefined ? {} : { 'x-quayside-tenant': tenant } })
    .then(({ body }) => body);

test('being added to a tenant is an invitation, without rights until it is accepted', async () => {
  const someone = await person();
  await invite(other(), someone.email, { role: 'owner' });
  await expect(other().get(200, pathOf(someone.email))).resolves.toMatchObject({ isInvited: true, role: 'owner' });
  const { items } = await other().get(200, '/api/users?team=guests&role=owner');
  expect(items).toContainEqual(expect.objectContaining({ email: someone.email, isInvited: true }));
  // Sign-in without a tenant stays in the tenant of before.
  const { access_token } = await login(200, { email: someone.email, password: someone.password });
  await expect(slugOf(access_token)).resolves.toBe('acme');
  await app.as(someone).get(403, '/api/application-tokens');
  const [invitation] = await app.as(someone).get(200, '/api/users/me/invitations');
  expect(invitation).toMatchObject({
    tenant: 'other',
    email: someone.email,
    invitedBy: app.stranger.email,
    role: 'owner',
    teams: ['guests'],
  });
  await app.as(someone).post(200, `/api/users/me/invitations/${invitation.id}/accept`);
  await app.as(someone).post(404, `/api/users/me/invitations/${invitation.id}/accept`);
  await expect(app.as(someone).get(200, '/api/users/me/invitations')).resolves.toEqual([]);
  await expect(other().get(200, pathOf(someone.email))).resolves.toMatchObject({ isInvited: false, role: 'owner' });
  // Accepted, not chosen: the tenant that was accepted first stays.
  const again = await login(200, { email: someone.email, password: someone.password });
  await expect(slugOf(again.access_token)).resolves.toBe('acme');
  const trail = await app.sql<{ action: string }>(
    `select action from audit_entry e join tenant t on t.id = e.tenant_id
     where t.slug = 'other' and action = 'user.invitation_accepted' and e.actor->>'email' = ?`,
    [someone.email],
  );
  expect(trail).toHaveLength(1);
});

test('naming a tenant accepts its invitation, and it is the one from then on', async () => {
  const someone = await person();
  const { email, password } = someone;
  await login(401, { email, password, tenant: 'other' });
  await invite(other(), email);
  await login(401, { email, password: 'wrong', tenant: 'other' });
  await expect(other().get(200, pathOf(email))).resolves.toMatchObject({ isInvited: true });
  const named = await login(200, { email, password, tenant: 'other' });
  expect(named.user).toMatchObject({ email, role: 'member' });
  await app.as({ token: named.access_token }).get(200, '/api/users/me');
  await expect(other().get(200, pathOf(email))).resolves.toMatchObject({ isInvited: false });
  await expect(slugOf((await login(200, { email, password })).access_token)).resolves.toBe('other');
  await login(200, { email, password, tenant: 'acme' });
  await expect(slugOf((await login(200, { email, password })).access_token)).resolves.toBe('acme');
  // The session of before goes on in its tenant.
  await expect(app.as(someone).get(200, '/api/users/me')).resolves.toMatchObject({ teams: ['guests'] });
});

test('the date of joining survives changes of teams', async () => {
  const { email, password } = await person();
  await invite(other(), email);
  await login(200, { email, password, tenant: 'other' });
  await app.sql('update tenant_user set chosen_at = null');
  await invite(app.as(app.owner), 'somebody-else@acme.example', { team: 'moved' });
  await app.as(app.owner).put(200, pathOf(email), { teams: ['moved'] });
  await expect(slugOf((await login(200, { email, password })).access_token)).resolves.toBe('acme');
});

test('who belongs to no tenant any more must name the one whose invitation is accepted', async () => {
  const { email, password } = await person();
  await app.as(app.owner).delete(200, '/api/users', { email });
  await login(401, { email, password });
  await invite(other(), email);
  const problem = await login(409, { email, password });
  expect(problem).toMatchObject({ code: 'ambiguous', tenants: ['other'], success: false, error: expect.any(String) });
  await login(401, { email, password: 'wrong' });
  await login(401, { email, password, tenant: 'acme' });
  await login(200, { email, password, tenant: 'other' });
});

test('an invitation is declined by its person alone', async () => {
  const [someone, somebody] = [await person(), await person()];
  await invite(other(), someone.email);
  const [{ id }] = await app.as(someone).get(200, '/api/users/me/invitations');
  for (const caller of [somebody, app.owner, app.stranger]) {
    await app.as(caller).post(404, `/api/users/me/invitations/${id}/accept`);
    await app.as(caller).post(404, `/api/users/me/invitations/${id}/decline`);
  }
  await app.as(app.application).post(403, `/api/users/me/invitations/${id}/accept`);
  await app.as(someone).post(204, `/api/users/me/invitations/${id}/decline`);
  await other().get(404, pathOf(someone.email));
  await login(401, { email: someone.email, password: someone.password, tenant: 'other' });
  await invite(other(), someone.email);
});

test('roles, teams and names of invited users are changed and removed like those of others', async () => {
  const { email, password } = await person();
  await invite(other(), email, { firstName: 'Given', role: 'owner' });
  await expect(other().post(200, '/api/users', { email, team: 'second', role: 'member' })).resolves.toMatchObject({
    isExistingUser: true,
    inviteSent: false,
  });
  await other().put(200, pathOf(email), { firstName: 'Changed', role: 'application', teams: ['second'] });
  await expect(other().get(200, pathOf(email))).resolves.toMatchObject({
    firstName: 'Changed',
    role: 'application',
    teams: ['second'],
    isInvited: true,
  });
  const { user } = await login(200, { email, password, tenant: 'other' });
  expect(user.role).toBe('application');
  await other().delete(200, '/api/users', { email });
  await invite(other(), email);
  await other().delete(200, '/api/users', { email, team: 'guests' });
  await other().get(404, pathOf(email));
  // An invited owner does not make the only one dispensable.
  await invite(asThird(), email, { role: 'owner' });
  await asThird().put(409, pathOf('owner@third.example'), { role: 'member' });
});

test('the link of the mail accepts, and leaves a password that there is alone', async () => {
  const { email, password } = await person();
  await invite(other(), email);
  const token = linkTo(email);
  const page = await app.as().request(200, 'GET', `/api/auth/set-password?token=${token}`);
  expect(page.text).toContain('Invitation to other');
  expect(page.text).not.toContain('type="password"');
  // Mail scanners open links.
  await expect(other().get(200, pathOf(email))).resolves.toMatchObject({ isInvited: true });
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const send = (status: number, fields: Record<string, string>) =>
    app.as().request(status, 'POST', '/api/auth/set-password', {
      rawBody: new URLSearchParams({ token, ...fields }).toString(),
      headers: form,
    });
  await send(200, { password: 'a password by the link' });
  await expect(other().get(200, pathOf(email))).resolves.toMatchObject({ isInvited: false });
  await login(401, { email, password: 'a password by the link' });
  await login(200, { email, password });
  await send(400, {});
});

test('somebody new needs a password to accept by the link', async () => {
  const email = `new-${++made}@people.example`;
  await invite(other(), email);
  const body = { token: linkTo(email) };
  await app.as().post(400, '/api/auth/password-setup', body);
  await app.as().post(200, '/api/auth/password-setup', { ...body, newPassword: 'correct horse battery' });
  const { access_token } = await login(200, { email, password: 'correct horse battery' });
  await expect(slugOf(access_token)).resolves.toBe('other');
});

test('the reply to adding somebody does not tell whether there is an account', async () => {
  const known = (await person()).email;
  const fresh = `fresh-${++made}@people.example`;
  const alias = `alias-${++made}@people.example`;
  const alone = `alone-${++made}@people.example`;
  await app.sql(`select * from claim_aliases((select id from user_account where email = ?), 'host-a', array[?])`, [
    known,
    alias,
  ]);
  await insertUser(app.db, alone);
  const shapes = [];
  for (const email of [known, fresh, alias, alone]) {
    const began = Date.now();
    const { body, status, headers } = await asThird().request(201, 'POST', '/api/users', {
      body: { email: email.toUpperCase(), team: 'guests', firstName: 'A', role: 'member' },
    });
    const { userId, teamAccountId, email: shown, ...rest } = body;
    expect(shown).toBe(email);
    // Ids are in order of time: none is older than the request.
    for (const id of [userId, teamAccountId])
      expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBeGreaterThanOrEqual(began - 1_000);
    const user = await asThird().get(200, pathOf(email));
    expect(user).toMatchObject({ id: userId, email, isInvited: true });
    const sent = mail.mails.findLast(({ to }) => to.includes(email));
    const text = (sent?.parsed.text ?? '').replace(/token=\S+/, 'token=');
    const again = await asThird().post(200, '/api/users', { email, team: 'guests' });
    const reinvited = await asThird().post(200, `${pathOf(email)}/invite`);
    shapes.push({
      status,
      headers: [...headers.keys()].filter((name) => !/request-id|ratelimit/.test(name)).toSorted(),
      rest,
      text,
      again: [again.isExistingUser, again.inviteSent, again.email === email],
      reinvited: reinvited.success,
      user: { ...user, id: '', email: '' },
    });
  }
  expect(shapes[0]?.rest).toMatchObject({ isExistingUser: false, inviteSent: true, warnings: [] });
  for (const shape of shapes.slice(1)) expect(shape).toEqual(shapes[0]);
  // Other addresses of the same person show nothing.
  await asThird().delete(200, '/api/users', { email: alias });
  await asThird().get(404, pathOf(alias));
});

test('a token of the provider acts in the only tenant, and names one of several', async () => {
  const { email, password } = await person();
  const token = await provider.issue({ email });
  await bearer(200, token);
  // To be invited, even by several, changes nothing.
  await invite(other(), email);
  await invite(asThird(), email);
  await bearer(200, token);
  await bearer(403, token, 'other');
  await bearer(403, token, 'never-was');
  await bearer(200, token, 'acme');
  await login(200, { email, password, tenant: 'other' });
  const problem = await bearer(409, token);
  expect(problem).toMatchObject({ code: 'ambiguous', tenants: ['acme', 'other'] });
  expect(problem.detail).toContain('acme, other');
  await expect(bearer(200, token, 'other')).resolves.toMatchObject({ teams: ['guests'] });
  await bearer(403, token, 'third');
  await bearer(403, token, 'Acme');
});

test('any other credential that is sent for another tenant is refused', async () => {
  await bearer(200, app.owner.token, 'acme');
  await bearer(403, app.owner.token, 'other');
  await bearer(200, app.application.token, 'acme');
  await bearer(403, app.application.token, 'other');
});

test('the first token of somebody new accepts the only invitation', async () => {
  const email = `new-${++made}@people.example`;
  const token = await provider.issue({ email });
  await bearer(401, token);
  await invite(other(), email, { role: 'owner', firstName: 'New' });
  await bearer(403, token, 'acme');
  const me = await bearer(200, token);
  expect(me).toMatchObject({ email, role: 'owner', firstName: 'New', isInvited: false });
  await expect(bearer(200, token)).resolves.toEqual(me);
  // Further invitations wait.
  await invite(asThird(), email);
  await bearer(200, token);
  await expect(asThird().get(200, pathOf(email))).resolves.toMatchObject({ isInvited: true });
});

test('somebody new whom several tenants invite names one', async () => {
  const email = `new-${++made}@people.example`;
  const token = await provider.issue({ email });
  await invite(other(), email);
  await invite(asThird(), email);
  await expect(bearer(409, token)).resolves.toMatchObject({ code: 'ambiguous', tenants: ['other', 'third'] });
  await app.as().post(409, '/api/auth/callback', { access_token: token });
  await bearer(200, token, 'third');
  await bearer(200, token);
  await expect(other().get(200, pathOf(email))).resolves.toMatchObject({ isInvited: true });
});

test('a session that is begun with a token of the provider accepts the tenant that it names', async () => {
  const email = `new-${++made}@people.example`;
  const token = await provider.issue({ email });
  await app.as().post(403, '/api/auth/callback', { access_token: token });
  await invite(other(), email);
  await app.as().post(403, '/api/auth/callback', { access_token: token, tenant: 'acme' });
  await app.as().post(200, '/api/auth/callback', { access_token: token });
  await expect(other().get(200, pathOf(email))).resolves.toMatchObject({ isInvited: false });
  await invite(asThird(), email);
  await app.as().post(200, '/api/auth/callback', { access_token: token });
  await expect(asThird().get(200, pathOf(email))).resolves.toMatchObject({ isInvited: true });
  await app.as().post(200, '/api/auth/callback', { access_token: token, tenant: 'third' });
  await expect(asThird().get(200, pathOf(email))).resolves.toMatchObject({ isInvited: false });
});

test('of ten acceptances at once, one makes the membership', async () => {
  const email = `new-${++made}@people.example`;
  const token = await provider.issue({ email });
  await invite(other(), email);
  const answers = await Promise.all(Array.from({ length: 10 }, () => app.as({ token }).send('GET', '/api/users/me')));
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  const rows = await app.sql('select 1 from user_account where email = ?', [email]);
  expect(rows).toHaveLength(1);
});
