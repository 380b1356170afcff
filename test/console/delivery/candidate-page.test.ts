import { BROWSER_TIMEOUT_MS } from '../../support/chromium.ts';
import { assertSound, type ConsoleStage, consoleStage } from '../../support/console.ts';
import { type StagedProject, stageProject } from '../../support/console-releases.ts';
import { idleEngine } from '../../support/launch.ts';

let stage: ConsoleStage;
let shop: StagedProject;
let candidate: string;

beforeAll(async () => {
  stage = await consoleStage({ launch: idleEngine, commands: ['execute-release'] });
  shop = await stageProject(stage.app, 'acme/shop', { dev: { category: 'dev' }, uat: {}, live: {} });
  await shop.release('sales', 's1', ['dev', 'uat', 'live'], { value: { artifacts: { 'sales-app': '0.9.0' } } });
  candidate = await shop.release('sales', 's2', ['dev']);
  await shop.release('service', 'v1');
}, BROWSER_TIMEOUT_MS);
afterAll(() => stage.close());

const path = () => `/candidates/${candidate}?project=acme/shop`;

test('a candidate is shown in both themes and at both widths', async () => {
  await assertSound(stage, stage.app.owner, path(), async (page) => {
    await page.getByText('It is not deployed to uat, live yet').waitFor();
    await page.getByRole('table', { name: 'Packages' }).waitFor();
  });
});

test('the list is shown in both themes and at both widths, and its filters stand in the address', async () => {
  await assertSound(stage, stage.app.owner, '/candidates', (page) => page.getByRole('link', { name: 's2' }).waitFor());
  const page = await stage.open(stage.app.member, '/candidates?project=acme/shop&domain=service');
  await page.getByRole('link', { name: 'v1' }).waitFor();
  await expect(page.getByRole('link', { name: 's2' }).count()).resolves.toBe(0);
  await page.getByLabel('Domain').selectOption('');
  await page.getByLabel('Release or commit').fill('s1');
  await page.getByRole('link', { name: 's1' }).waitFor();
  await page.getByRole('link', { name: 'v1' }).waitFor({ state: 'detached' });
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ project: 'acme/shop', q: 's1' });
  await page.getByLabel('Release or commit').fill('nothing');
  await page.getByText('No candidate matches').waitFor();
  await page.context().close();
});

test('it says why it is not released, and says something else when that changes', async () => {
  const page = await stage.open(stage.app.member, path());
  await page.getByText('It is not deployed to uat, live yet').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await shop.report('sales', 's2', 'uat', 'Failed');
  await page.getByText('Its deployment to uat failed.').waitFor();
  await page.getByRole('button', { name: 'Hold', exact: true }).click();
  await page.getByLabel('Reason').fill('waits for legal');
  await page.getByRole('dialog').getByRole('button', { name: 'Hold', exact: true }).click();
  await page.getByText(`${stage.app.member.email} holds it: waits for legal`).waitFor();
  await page.getByRole('button', { name: 'Release the hold' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Release the hold' }).click();
  await page.getByText('Its deployment to uat failed.').waitFor();
  await page.context().close();
});

test('what it changes is told against an environment of choice, which stands in the address', async () => {
  const page = await stage.open(stage.app.member, path());
  await page.getByLabel('Against').selectOption('live');
  await page.getByRole('row', { name: /sales-app 0\.9\.0 1\.0\.0/ }).waitFor();
  expect(new URL(page.url()).searchParams.get('against')).toBe('live');
  await page.getByLabel('Against').selectOption({ label: 'The previous candidate of its branch' });
  await page.getByText('no remote').waitFor();
  await expect(page.getByText('No commit.').count()).resolves.toBe(0);
  await page.context().close();
});

test('aborting takes its name, and cannot be undone', async () => {
  const doomed = await shop.release('service', 'v2');
  const page = await stage.open(stage.app.owner, `/candidates/${doomed}?project=acme/shop`);
  await page.getByRole('button', { name: 'Abort' }).click();
  const dialog = page.getByRole('dialog', { name: 'Abort v2' });
  const abort = dialog.getByRole('button', { name: 'Abort' });
  await expect(abort.isDisabled()).resolves.toBe(true);
  await dialog.getByLabel('Type v2 to confirm').fill('v2');
  await abort.click();
  await page.getByText('It was aborted, and can no longer be deployed.').waitFor();
  await expect(page.getByRole('button', { name: 'Abort' }).count()).resolves.toBe(0);
  await page.context().close();
});

test('the palette finds a candidate by its name, and leads a key to its work item', async () => {
  const page = await stage.open(stage.app.member, '/');
  await page.getByRole('heading', { name: 'Needs attention', level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /A page, a project/ }).fill('s2');
  await page.getByRole('option', { name: /s2.*sales, acme\/shop/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(`/candidates/${candidate}`));
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /A page, a project/ }).fill('proj-12');
  await page.getByRole('option', { name: 'Where is PROJ-12?' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/work-items\/PROJ-12/);
  await page.context().close();
});

test('a candidate of others, or none, is not there', async () => {
  const page = await stage.open(stage.app.stranger, path());
  await page.getByText('There is nothing here').waitFor();
  await page.context().close();
});
