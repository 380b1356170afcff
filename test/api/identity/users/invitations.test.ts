import { type TestApp, testApp } from '../../../support/app.ts';
import { type MailServer, mailServer } from '../../../simulators/mail-server.ts';

const PASSWORD = 'correct horse battery';

let mail: MailServer;
let app: TestApp;
let made = 0;
beforeAll(async () => {
  mail = await mailServer();
  app = await testApp({ env: { SMTP_URL: mail.url } });
});
afterAll(async () => {
  await app.close();
  await mail.close();
});

const address = () => `invited-${++made}@acme.example`;
const owner = () => app.as(app.owner);
const add = (email: string, more: object = {}) => owner().post(201, '/api/users', { email, team: 'platform', ...more });
const inviteAgain = (email: string) => owner().post(200, `/api/users/${encodeURIComponent(email)}/invite`);
const mailTo = (email: string) => {
  const found = mail.mails.findLast(({ to }) => to.includes(email));
  if (!found) throw new Error(`no mail came for ${email}`);
  return found;
};
const tokenIn = (email: string) => /set-password\?token=([\w-]+)/.exec(mailTo(email).parsed.text ?? '')?.[1] ?? '';
const setUp = (status: number, token: string, newPassword = PASSWORD) =>
  app.as().post(status, '/api/auth/password-setup', { token, newPassword });
const signIn = (status: number, email: string, password = PASSWORD) =>
  app.as().post(status, '/api/auth/admin/login', { email, password });

test('an invitation lets a person set a password, once', async () => {
  const email = address();
  await expect(add(email)).resolves.toMatchObject({ inviteSent: true, warnings: [] });
  const { parsed, from } = mailTo(email);
  expect(from).toBe('no-reply@quayside.test');
  expect(parsed.subject).toBe('Invitation to acme on Quayside');
  expect(parsed.to).toEqual([{ name: '', address: email }]);
  const link = `http://quayside.test/api/auth/set-password?token=${tokenIn(email)}`;
  expect(parsed.text).toContain(`${app.owner.email} has invited you to acme`);
  expect(parsed.text).toContain(link);
  expect(parsed.html).toContain(`href="${link}"`);
  const stored = await app.sql('select * from invitation');
  expect(JSON.stringify(stored)).not.toContain(tokenIn(email));

  const weak = await setUp(400, tokenIn(email), 'password1234');
  expect(weak.errors[0].pointer).toBe('#/body/newPassword');
  await expect(setUp(200, tokenIn(email))).resolves.toEqual({ success: true, email });
  const { access_token: token } = await signIn(200, email);
  await expect(app.as({ token }).get(200, '/api/users/me')).resolves.toMatchObject({ email, role: 'member' });
  const spent = await setUp(400, tokenIn(email), 'another good password');
  expect(spent.errors[0].pointer).toBe('#/body/token');
  const trail = await app.sql<{ action: string }>(
    `select action from audit_entry where entity_id = (select id::text from user_account where email = ?) order by sequence`,
    [email],
  );
  expect(trail.map(({ action }) => action)).toEqual([
    'user.created',
    'user.invited',
    'user.invitation_accepted',
    'user.password_set',
  ]);
});

test('the page behind the link sets the password, and says what is wrong with one', async () => {
  const email = address();
  await add(email);
  const token = tokenIn(email);
  const open = (status: number) => app.as().request(status, 'GET', `/api/auth/set-password?token=${token}`);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const send = (status: number, password: string) =>
    app.as().request(status, 'POST', '/api/auth/set-password', {
      rawBody: new URLSearchParams({ token, username: email, password }).toString(),
      headers,
    });
  const page = await open(200);
  expect(page.text).toContain(email);
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect((await send(400, 'password1234')).text).toContain('The password is a common password.');
  expect((await send(200, PASSWORD)).text).toContain('Your password is set');
  await signIn(200, email);
  expect((await open(400)).text).toContain('This link does not work');
  expect((await send(400, PASSWORD)).text).toContain('This link does not work');
});

test('of ten uses of a link at once, one sets the password', async () => {
  const email = address();
  await add(email);
  const token = tokenIn(email);
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      app.as().send('POST', '/api/auth/password-setup', { body: { token, newPassword: `${PASSWORD} ${index}` } }),
    ),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(400)]);
  await signIn(200, email, `${PASSWORD} ${answers.findIndex(({ status }) => status === 200)}`);
});

test('a link ends when it expires, with the membership, and with the first password', async () => {
  const [expired, removed, twice] = [address(), address(), address()];
  for (const email of [expired, removed, twice]) await add(email);
  await app.sql(`update invitation set expires_at = now() - interval '1 second' where email = ?`, [expired]);
  await setUp(400, tokenIn(expired));
  const removedToken = tokenIn(removed);
  await owner().delete(200, '/api/users', { email: removed });
  await setUp(400, removedToken);
  const first = tokenIn(twice);
  await inviteAgain(twice);
  expect(tokenIn(twice)).not.toBe(first);
  await setUp(200, first);
  await setUp(400, tokenIn(twice));
  await setUp(400, 'never-was');
});

test('who has a password is led to the sign-in', async () => {
  await expect(inviteAgain(app.member.email)).resolves.toEqual({ success: true, email: app.member.email });
  expect(mailTo(app.member.email).parsed.text).toContain('http://quayside.test/api/auth/sign-in');
  expect(tokenIn(app.member.email)).toBe('');
});

test('an address gets three mails an hour of a tenant, also when it is removed and added again', async () => {
  const email = address();
  await add(email);
  await owner().delete(200, '/api/users', { email });
  await add(email);
  await inviteAgain(email);
  // Another tenant notices nothing of these.
  await expect(app.as(app.stranger).post(201, '/api/users', { email, team: 'theirs' })).resolves.toMatchObject({
    inviteSent: true,
    warnings: [],
  });
  const answers = await Promise.all([inviteAgain(email), inviteAgain(email)]);
  for (const answer of answers)
    expect(answer).toMatchObject({ success: false, error: expect.stringContaining('too often') });
  expect(mail.mails.filter(({ to }) => to.includes(email))).toHaveLength(4);
});

test('a mail that is refused is a warning, never a failure', async () => {
  mail.refuse(550);
  const email = address();
  await expect(add(email)).resolves.toMatchObject({
    success: true,
    inviteSent: false,
    warnings: [expect.stringContaining('refused the mail (550)')],
  });
  await expect(inviteAgain(email)).resolves.toMatchObject({ success: false, error: expect.stringContaining('550') });
  mail.refuse(undefined);
  await expect(inviteAgain(email)).resolves.toMatchObject({ success: true });
});

test.each([
  { email: 'a@acme.example\r\nBcc: victim@example.com' },
  { email: 'a@acme.example,victim@example.com' },
  { email: '"a\r\nBcc: victim@example.com"@acme.example' },
  { firstName: 'Dana\r\nBcc: victim@example.com' },
  { lastName: 'Reyes\u0000' },
  { team: 'platform\nX: y' },
])('%j is refused before any mail', async (body) => {
  const before = mail.mails.length;
  await owner().post(400, '/api/users', { email: address(), team: 'platform', ...body });
  expect(mail.mails).toHaveLength(before);
});
