import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { freePort } from '../../../support/free-port.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { BROWSER_TIMEOUT_MS, launchChromium, PAGE_TIMEOUT_MS } from '../../../support/chromium.ts';
import { idleEngine } from '../../../support/launch.ts';
import { reviewStage } from '../../../support/review.ts';

let app: TestApp;
let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
  const port = await freePort();
  app = await testApp({ launch: idleEngine, env: { PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` } });
}, BROWSER_TIMEOUT_MS);
afterAll(async () => {
  await browser.close();
  await app.close();
});

/** Keeps what the page looks like, where that is asked for. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

test('a person signs in, sees what is theirs, extends it and releases it', async () => {
  const { assign, orgs } = await reviewStage(app, { maxLeaseHours: 48 });
  const [username] = await orgs(1);
  const { id } = await assign({ assignmentId: '118', branch: 'feature/<b>a</b>' }, 201, app.member);
  const context = await browser.newContext({ viewport: { width: 640, height: 720 } });
  const page = await context.newPage();
  page.setDefaultTimeout(PAGE_TIMEOUT_MS);
  await page.goto(`${app.url}/review-env/${id}`);
  await page.getByLabel('E-mail').fill(app.member.email);
  await page.getByLabel('Password').fill(app.member.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${app.url}/review-env/${id}`);
  const content = () => page.locator('main').innerText();
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Review of pull request 118');
  for (const text of ['Active', 'review', 'feature/<b>a</b>', username, app.member.email])
    expect(await content()).toContain(text);
  await picture(page, 'active');
  const until = () => page.locator('time').getAttribute('datetime');
  const before = await until();
  expect(await page.getByRole('link', { name: 'Open the org' }).getAttribute('href')).toBe(
    `/api/auth/crm/frontdoor?target=${encodeURIComponent(username ?? '')}`,
  );
  await page.getByLabel('Extend').fill('40');
  await page.getByRole('button', { name: 'Extend' }).click();
  await page.waitForURL(`${app.url}/review-env/${id}`);
  expect(Date.parse((await until()) ?? '') - Date.parse(before ?? '')).toBeGreaterThan(15 * 3_600_000);
  // In the meantime the pool allows less.
  await app.sql(`update review_assignment set assigned_at = now() - interval '20 hours' where id = ?`, [id]);
  await page.getByLabel('Extend').fill('40');
  await page.getByRole('button', { name: 'Extend' }).click();
  await page.getByRole('alert').waitFor();
  expect(await content()).toMatch(/cannot be extended: it may last until/);
  await picture(page, 'refused');
  await page.getByRole('button', { name: 'Release the org' }).click();
  await page.getByText('Released').waitFor();
  expect(await page.getByRole('button').count()).toBe(0);
  await picture(page, 'released');
  const waiting = await assign({ assignmentId: '119' }, 202, app.owner);
  await page.goto(`${app.url}/review-env/${waiting.id}`);
  expect(await content()).toContain('Waiting for an org, number 1 in line');
  // It is somebody else's.
  expect(await page.getByRole('button').count()).toBe(0);
  await picture(page, 'waiting');
  await context.close();
});

test('without a session the page leads to the sign-in; ids of others and of nothing are not found', async () => {
  const { assign, orgs } = await reviewStage(app);
  await orgs(1);
  const { id } = await assign({});
  const path = `/review-env/${id}`;
  const { headers } = await app.as().request(302, 'GET', path);
  expect(headers.get('location')).toBe(`/api/auth/sign-in?next=${encodeURIComponent(path)}`);
  await app.as(app.member).request(200, 'GET', path);
  const form = (body: Record<string, string>) => ({
    rawBody: new URLSearchParams(body).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  const release = form({ action: 'release' });
  for (const [caller, at] of [
    [app.stranger, path],
    [app.member, '/review-env/nothing'],
    [app.member, '/review-env/0198c5a0-7b3e-7000-8000-000000000001'],
  ] as const) {
    expect((await app.as(caller).request(404, 'GET', at)).text).toContain('No such review environment');
    await app.as(caller).request(404, 'POST', at, release);
  }
  await app.as().request(302, 'POST', path, release);
  await app.as(app.member).request(403, 'POST', path, release);
  for (const body of [{ action: 'extend', hours: '0' }, { action: 'extend' }, { action: 'delete' }])
    await app.as(app.owner).request(400, 'POST', path, form(body));
  await app.as(app.owner).request(302, 'POST', path, form({ action: 'extend', hours: '5' }));
  await expect(app.as(app.owner).get(200, `/api/review/assignments/${id}`)).resolves.toMatchObject({ state: 'active' });
});
