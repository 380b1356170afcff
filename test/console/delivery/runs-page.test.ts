import { assertSound } from '../../support/console.ts';
import { type RunsStage, runsStage } from '../../support/console-runs.ts';
import { BROWSER_TIMEOUT_MS } from '../../support/chromium.ts';

let stage: RunsStage;

beforeAll(async () => {
  stage = await runsStage();
  stage.letGo(true);
  await stage.isAt(await stage.analyze(), 'failed');
}, BROWSER_TIMEOUT_MS);
afterAll(() => stage.close());

test('runs are shown with the reason of a failure, in both themes and at both widths', async () => {
  await assertSound(stage, stage.app.member, '/runs', (page) =>
    page.getByText('The command ended with exit code 3').first().waitFor(),
  );
});

test('filters stand in the address, statuses are counted, and a view is kept with its count', async () => {
  const page = await stage.open(stage.app.owner, `/runs?project=${stage.repositoryIdentifier}`);
  await page.getByRole('link', { name: 'Completed 3' }).click();
  await page.waitForURL(/status=Completed/);
  await page.getByText('3 runs').waitFor();
  const who = page.getByLabel('Started by');
  await who.fill('nobody@example.com');
  await who.press('Enter');
  await page.getByRole('heading', { name: 'No runs match' }).waitFor();
  expect(decodeURIComponent(page.url())).toContain('who=nobody@example.com');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByRole('link', { name: 'Completed 3' }).click();
  await page.getByRole('button', { name: 'Save this view' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save this view' });
  await dialog.getByLabel('Name of the view').fill('What succeeded');
  await dialog.getByRole('button', { name: 'Save this view' }).click();
  await page.goto(`${stage.app.url}/console/runs`);
  await page.getByRole('link', { name: 'What succeeded 3' }).click();
  await page.waitForURL(/status=Completed/);
  await page.getByText('3 runs').waitFor();
  await page.getByRole('button', { name: 'Remove What succeeded' }).click();
  await expect(page.getByRole('link', { name: 'What succeeded 3' }).count()).resolves.toBe(0);
  await page.context().close();
});

test('a run that begins is shown by itself, and is held back while the focus is in the list', async () => {
  const page = await stage.open(stage.app.owner, '/runs');
  const rows = page.getByRole('row').filter({ hasText: 'analyze' });
  await page.getByRole('link', { name: 'Failed 1' }).waitFor();
  await rows.first().getByRole('link').focus();
  await stage.isAt(await stage.analyze(), 'failed');
  await page.getByRole('button', { name: 'Show 1 new' }).click();
  await page.getByRole('link', { name: 'Failed 2' }).waitFor();
  await expect(rows.count()).resolves.toBe(5);
  await page.context().close();
});

test('a failure of the service is said, and what is shown stays', async () => {
  const page = await stage.open(stage.app.owner, '/inbox');
  const problem = {
    type: 'urn:quayside:problem:internal',
    title: 'x',
    status: 500,
    detail: 'It broke',
    code: 'internal',
  };
  await page.route('**/api/flows/runs?*', (route) =>
    route.fulfill({ status: 500, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
  );
  await page.getByRole('link', { name: 'Runs' }).click();
  await page.getByRole('alert').getByText('It broke').waitFor();
  await page.unroute('**/api/flows/runs?*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('The command ended with exit code 3').first().waitFor();
  await page.context().close();
});
