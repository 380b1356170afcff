import { accessibilityProblems, assertSound } from '../../support/console.ts';
import { type RunsStage, runsStage } from '../../support/console-runs.ts';
import { BROWSER_TIMEOUT_MS } from '../../support/chromium.ts';

let stage: RunsStage;

beforeAll(async () => {
  stage = await runsStage();
}, BROWSER_TIMEOUT_MS);
afterAll(() => stage.close());

test('output comes while the run goes on, then the failure stands first, and the estimate is of past runs', async () => {
  const id = await stage.analyze();
  await stage.isAt(id, 'running');
  const page = await stage.open(stage.app.member, `/runs/${id}`);
  const output = page.getByRole('region', { name: 'Output' });
  await output.getByText('looking <b>at</b> 42 classes').waitFor();
  // What comes later is asked for behind what is shown.
  await output.getByText(/class 1\n[^]*class 9\n/).waitFor();
  const shown = (await output.textContent()) ?? '';
  expect([shown.split('looking').length, shown.split('class 2\n').length]).toEqual([2, 2]);
  await page.getByText('5 min (median of the last 3 that succeeded)').waitFor();
  await expect(page.getByRole('heading', { name: 'Why it failed' }).count()).resolves.toBe(0);
  stage.letGo(true);
  await page.getByRole('heading', { name: 'Why it failed' }).waitFor();
  await page.getByText('The command ended with exit code 3').waitFor();
  await output.getByText('Invoice.cls:12 unused').waitFor();
  await page.getByRole('listitem').filter({ hasText: 'Failed' }).waitFor();
  await page.context().close();
});

test('a run is shown in both themes and at both widths', async () => {
  stage.letGo(true);
  const id = await stage.analyze();
  await stage.isAt(id, 'failed');
  await assertSound(stage, stage.app.owner, `/runs/${id}`, (page) =>
    page.getByRole('region', { name: 'Output' }).waitFor(),
  );
});

test('a run is repeated, with another payload only where the service takes it, and one is cancelled', async () => {
  stage.letGo(true);
  const id = await stage.analyze();
  await stage.isAt(id, 'failed');
  stage.letGo(false);
  const page = await stage.open(stage.app.member, `/runs/${id}`);
  await page.getByRole('button', { name: 'Run again' }).click();
  const dialog = page.getByRole('dialog', { name: 'Run again' });
  await dialog.getByLabel('Change the payload').check();
  const payload = dialog.getByLabel('Payload', { exact: true });
  await payload.fill('{');
  await dialog.getByText('This is no JSON object').waitFor();
  await payload.fill(JSON.stringify({ id: 'analyze', repositoryIdentifier: 'acme/other' }));
  await dialog.getByRole('button', { name: 'Run again' }).click();
  await dialog.getByText('/repositoryIdentifier: must be that of the run').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await dialog.getByLabel('Change the payload').uncheck();
  await dialog.getByRole('button', { name: 'Run again' }).click();
  await page.getByText('A new run has started').waitFor();
  await page.waitForURL((address) => !address.pathname.endsWith(id));
  await page.getByRole('button', { name: 'Cancel the run' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click();
  await page.getByRole('listitem').filter({ hasText: 'Cancelled' }).waitFor();
  await page.context().close();
});

test('an id that nothing has says so', async () => {
  const page = await stage.open(stage.app.owner, '/runs/0198c5a0-7b3e-7000-8000-000000000001');
  await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
  await page.context().close();
});
