import { assertSound } from '../../support/console.ts';
import { type HotfixStage, hotfixStage } from '../../support/console-hotfix.ts';
import { BROWSER_TIMEOUT_MS } from '../../support/chromium.ts';

let stage: HotfixStage;

beforeAll(async () => {
  stage = await hotfixStage();
}, BROWSER_TIMEOUT_MS);
afterAll(() => stage.close());

test('the next release lacks the fix, in both themes and at both widths', async () => {
  await assertSound(stage, stage.app.member, `/hotfix?project=${stage.repositoryIdentifier}`, (page) =>
    page.getByRole('heading', { name: 'r2 lacks 1 commit of prod, of 1 work item: carry them back' }).waitFor(),
  );
});

test('what is to be carried back is listed beside what the release brings, and both sides are in the address', async () => {
  const page = await stage.open(stage.app.member, `/hotfix?project=${stage.repositoryIdentifier}`);
  const carried = page.getByRole('table', { name: 'Only in prod: to be carried back' });
  await carried.getByText('SHOP-50: urgent (#50)').waitFor();
  await page.getByRole('table', { name: 'Only in r2: what it brings' }).getByText('SHOP-52: new (#52)').waitFor();
  await page.getByRole('button', { name: 'Copy as git cherry-pick' }).waitFor();
  await page.getByLabel('Environment').selectOption('uat');
  await page.getByRole('heading', { name: 'r2 has all that uat has' }).waitFor();
  expect(page.url()).toContain('environment=uat');
  await page.getByLabel('Next release').selectOption({ label: 'r1-fix · core' });
  await page.waitForURL(/candidate=/);
  await page.getByRole('table', { name: 'Only in r1-fix: what it brings' }).waitFor();
  await page.getByRole('link', { name: 'SHOP-50' }).click();
  await page.getByText(/^SHOP-50 has been in prod since/).waitFor();
  await page.context().close();
});

test('a comparison that fails is said', async () => {
  const problem = { type: 'urn:quayside:problem:unavailable', title: 'x', status: 500, detail: 'It broke', code: 'x' };
  const page = await stage.open(stage.app.owner, '/work-items');
  await page.route('**/api/releases/compare?*', (route) =>
    route.fulfill({ status: 500, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
  );
  await page.getByRole('link', { name: 'Hotfix' }).click();
  await page.getByRole('alert').getByText('It broke').waitFor();
  await page.context().close();
});
