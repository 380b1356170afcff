import type { Browser, BrowserContext, Page } from 'playwright-core';
import { freePort } from '../../../support/free-port.ts';
import { crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import { AUDIENCE, CLIENT, openIdSimulator, type OpenIdSimulator } from '../../../simulators/openid-provider.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { BROWSER_TIMEOUT_MS, launchChromium, PAGE_TIMEOUT_MS } from '../../../support/chromium.ts';
import { codeOf } from '../../../support/totp.ts';

const LINK = '/api/auth/continue?action=frontDoorUrl&params=targetOrg%3Adev1%40acme.example%2Crepository%3Aacme%2Fshop';
const FRONT_DOOR = '/api/auth/crm/frontdoor?target=dev1%40acme.example&repository=acme%2Fshop';
let browser: Browser;
let provider: OpenIdSimulator;
let app: TestApp;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  browser = await launchChromium();
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  provider = await openIdSimulator(`${publicUrl}/api/auth/oidc/return`);
  app = await testApp({
    env: {
      PORT: String(port),
      PUBLIC_URL: publicUrl,
      OIDC_ISSUER: provider.issuer,
      OIDC_AUDIENCE: AUDIENCE,
      OIDC_CLIENT_ID: CLIENT.id,
      OIDC_CLIENT_SECRET: CLIENT.secret,
    },
  });
}, BROWSER_TIMEOUT_MS);
afterAll(async () => {
  await browser.close();
  await app.close();
  await provider.close();
});
beforeEach(async () => {
  context = await browser.newContext();
  page = await context.newPage();
  page.setDefaultTimeout(PAGE_TIMEOUT_MS);
});
afterEach(() => context.close());

const focused = () => page.evaluate<string>('document.activeElement.id || document.activeElement.textContent.trim()');
const arrived = () => page.waitForURL(`${app.url}${FRONT_DOOR}`);
const whoAmI = async () => (await (await context.request.get(`${app.url}/api/users/me`)).json()) as { email: string };

test('the page is worked by the keyboard alone: in order, with labels, and Enter submits', async () => {
  await page.goto(app.url + LINK);
  const stops = [await focused()];
  for (let stop = 0; stop < 4; stop++) {
    await page.keyboard.press('Tab');
    stops.push(await focused());
  }
  expect(stops).toEqual(['email', 'password', 'tenant', 'Sign in', 'Continue with single sign-on']);
  for (const label of ['E-mail', 'Password', 'Tenant (optional)'])
    expect(await page.getByLabel(label, { exact: true }).count()).toBe(1);
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Sign in');

  await page.getByLabel('E-mail').focus();
  await page.keyboard.type(app.owner.email);
  await page.keyboard.press('Tab');
  await page.keyboard.type('a wrong password');
  await page.keyboard.press('Enter');
  const alert = page.getByRole('alert');
  expect(await alert.textContent()).toBe('The e-mail or the password is wrong.');
  expect(await page.title()).toMatch(/^Error: /);
  expect(await focused()).toBe('password');
  expect(await page.getByLabel('Password').getAttribute('aria-describedby')).toBe(await alert.getAttribute('id'));
  expect(await page.getByLabel('E-mail').inputValue()).toBe(app.owner.email);

  await page.keyboard.type(app.owner.password);
  await page.keyboard.press('Enter');
  await arrived();
  expect((await whoAmI()).email).toBe(app.owner.email);
});

test('without scripts it works as well, and the session is out of reach for scripts', async () => {
  await context.close();
  context = await browser.newContext({ javaScriptEnabled: false });
  page = await context.newPage();
  await page.goto(app.url + LINK);
  await page.getByLabel('E-mail').fill(app.owner.email);
  await page.getByLabel('Password').fill(app.owner.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await arrived();
  expect(await context.cookies()).toEqual([
    expect.objectContaining({ name: 'qs_session', httpOnly: true, sameSite: 'Lax' }),
  ]);
});

test('whoever has a second factor is asked for its code', async () => {
  const { uri } = await app.as(app.member).post(201, '/api/users/me/totp');
  const { recoveryCodes } = await app.as(app.member).post(200, '/api/users/me/totp/confirm', { code: codeOf(uri) });
  await page.goto(app.url + LINK);
  await page.getByLabel('E-mail').fill(app.member.email);
  await page.getByLabel('Password').fill(app.member.password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Enter your code' }).waitFor();
  expect(await focused()).toBe('code');
  await page.keyboard.type('000000');
  await page.keyboard.press('Enter');
  expect(await page.getByRole('alert').textContent()).toBe('The code is wrong or has been used already.');
  await page.keyboard.type(String(recoveryCodes[0]));
  await page.keyboard.press('Enter');
  await arrived();
  expect((await whoAmI()).email).toBe(app.member.email);
});

test('the identity provider signs in whom it knows, and the link goes on', async () => {
  provider.signInAs({ email: app.owner.email });
  await page.goto(app.url + LINK);
  await page.getByRole('link', { name: 'Continue with single sign-on' }).click();
  await arrived();
  expect((await whoAmI()).email).toBe(app.owner.email);
  expect((await context.cookies(app.url)).map(({ name }) => name)).not.toContain('qs_oidc');
});

test('whom the identity provider does not vouch for, or who is no member, is told so', async () => {
  for (const [person, words] of [
    [{ email: 'stranger@example.com' }, 'Your e-mail does not belong to a member of this tenant.'],
    [{ email: app.owner.email, emailVerified: false }, 'The identity provider did not confirm your identity'],
  ] as const) {
    await context.clearCookies();
    provider.signInAs(person);
    await page.goto(app.url + LINK);
    await page.getByRole('link', { name: 'Continue with single sign-on' }).click();
    expect(await page.getByRole('alert').textContent()).toContain(words);
    expect((await context.cookies(app.url)).map(({ name }) => name)).not.toContain('qs_session');
    await page.getByRole('link', { name: 'Try again' }).click();
    expect(await page.locator('input[name=next]').inputValue()).toBe(LINK);
  }
});

test('after the sign-in the link opens the front door of the org, which is told nothing of where it came from', async () => {
  const crm = await crmSimulator();
  const { authUrl: cliAuthUrl, username } = crm.org('acme');
  await app.as(app.owner).post(201, '/api/auth/crm/register', { cliAuthUrl, metadata: { alias: 'prod' } });
  await page.goto(`${app.url}/api/auth/continue?action=frontDoorUrl&params=targetOrg%3Auat%2CprodOrg%3Aprod`);
  await page.getByLabel('E-mail').fill(app.owner.email);
  await page.getByLabel('Password').fill(app.owner.password);
  const [door] = await Promise.all([
    page.waitForRequest(`${crm.org('acme-uat').url}/secur/frontdoor.jsp?*`),
    page.keyboard.press('Enter'),
  ]);
  await page.waitForURL(`${crm.org('acme-uat').url}/`);
  expect(await page.textContent('body')).toContain('Signed in to the simulated org acme-uat');
  expect(await door.headerValue('referer')).toBeNull();
  await page.goto(door.url());
  expect(await page.textContent('body')).toContain('closed');
  await app.as(app.owner).delete(204, `/api/auth/crm/org?username=${username}`);
  await crm.close();
});

test('an answer of the provider that this browser did not ask for begins no session', async () => {
  await page.goto(`${app.url}/api/auth/oidc/return?code=stolen&state=guessed`);
  expect(await page.getByRole('alert').textContent()).toContain('too long ago or in another browser');
  await context.request.get(`${app.url}/api/auth/oidc/start`, { maxRedirects: 0 });
  expect((await context.cookies(app.url)).map(({ name }) => name)).toEqual(['qs_oidc']);
  await page.goto(`${app.url}/api/auth/oidc/return?code=stolen&state=guessed`);
  expect(await page.getByRole('alert').textContent()).toContain('did not confirm your identity');
  expect(await context.cookies(app.url)).toEqual([]);
});
