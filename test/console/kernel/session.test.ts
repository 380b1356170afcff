import { BROWSER_TIMEOUT_MS } from '../../support/chromium.ts';
import { eventually } from '../../support/eventually.ts';
import { type ConsolePage, type ConsoleStage, consoleStage } from '../../support/console.ts';

let stage: ConsoleStage;

beforeAll(async () => {
  stage = await consoleStage();
}, BROWSER_TIMEOUT_MS);
afterAll(() => stage.close());

/** Has all that is shown asked again, as when somebody comes back to the tab. */
const askAgain = (page: ConsolePage) => page.evaluate(`dispatchEvent(new Event('visibilitychange'))`);

async function endSession(page: ConsolePage): Promise<void> {
  await page.context().clearCookies();
  await askAgain(page);
}

test('a session that ends asks to sign in again beside what was typed, and goes on', async () => {
  const { app, open } = stage;
  const page = await open(app.owner, '/');
  await page.getByRole('heading', { name: 'Needs attention', level: 1 }).waitFor();
  const context = page.context();
  await page.getByLabel('Show acknowledged').check();
  await endSession(page);
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.waitFor();
  const [beside] = await Promise.all([
    context.waitForEvent('page'),
    dialog.getByRole('button', { name: 'Sign in again' }).click(),
  ]);
  await beside.getByLabel('E-mail').fill(app.owner.email);
  await beside.getByLabel('Password').fill(app.owner.password);
  await beside.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  expect(await page.getByLabel('Show acknowledged').isChecked()).toBe(true);
  await context.close();
});

test('that the session has ended is put away until the next refusal, and over when somebody signs in', async () => {
  const { app, open } = stage;
  const page = await open(app.owner, '/environments');
  await page.getByRole('heading', { name: 'There is no environment' }).waitFor();
  const context = page.context();
  await endSession(page);
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.waitFor();
  // Nothing else is refused meanwhile.
  await page.route(/\/api\//, (route) => route.abort());
  // What was on its way may still be refused.
  await eventually(
    async () => {
      await page.keyboard.press('Escape');
      return dialog.count();
    },
    (count) => count === 0,
  );
  await page.unroute(/\/api\//);
  await askAgain(page);
  await dialog.waitFor();
  await context.request.post(`${app.url}/api/auth/callback`, { data: { access_token: app.owner.token } });
  await page.reload();
  await page.getByLabel('Category').waitFor();
  expect(await dialog.count()).toBe(0);
  await context.close();
});

test('who signs in as somebody else in another tab sees nothing of the one before in the first', async () => {
  const { app, open } = stage;
  const page = await open(app.owner, '/environments?category=release');
  await page.getByLabel('Category').waitFor();
  const context = page.context();
  await context.request.post(`${app.url}/api/auth/callback`, { data: { access_token: app.member.token } });
  const second = await context.newPage();
  await second.goto(`${app.url}/console/environments`);
  await page.waitForURL(/\/console\/$/);
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByText(`${app.member.email} at`).waitFor();
  await context.close();
});

test('a sign-out that fails is said, and one that does not ends all tabs', async () => {
  const { app, open } = stage;
  const page = await open(app.owner, '/');
  const second = await page.context().newPage();
  await second.goto(`${app.url}/console/environments`);
  await second.getByRole('heading', { name: 'Environments', level: 1 }).waitFor();
  await page.route(/auth\/logout/, (route) => route.abort());
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText(/You are still signed in/).waitFor();
  await page.unroute(/auth\/logout/);
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(/\/api\/auth\/sign-in/);
  await second.waitForURL(/\/api\/auth\/sign-in/);
  await page.context().close();
});
