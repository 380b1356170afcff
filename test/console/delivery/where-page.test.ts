import { BROWSER_TIMEOUT_MS } from '../../support/chromium.ts';
import {
  accessibilityProblems,
  assertSound,
  type ConsolePage,
  type ConsoleStage,
  consoleStage,
} from '../../support/console.ts';
import { type StagedProject, stageProject } from '../../support/console-releases.ts';
import { insertApproval, insertLockTickets, insertRun, lease } from '../../support/factories.ts';
import { idleEngine } from '../../support/launch.ts';

let stage: ConsoleStage;
let shop: StagedProject;

beforeAll(async () => {
  stage = await consoleStage({ launch: idleEngine });
  const { app } = stage;
  shop = await stageProject(app, 'acme/shop', {
    dev: { approvalPolicy: { skipApproval: true } },
    uat: { approvalPolicy: { approvers: [app.member.email], minApprovals: 1 } },
    live: { promotion: { after: ['uat'] } },
  });
  await shop.release('sales', 's1', ['dev', 'uat', 'live']);
  await shop.release('sales', 's2', ['dev', 'live']);
  await shop.release('sales', 's3', ['dev']);
  await shop.release('sales', 's4');
  await shop.release('service', 'v1', ['dev']);
  const { repositoryIdentifier, environments } = shop;
  const waits = { repositoryIdentifier, domain: 'service', releaseName: 'v1', environmentId: environments.uat ?? '' };
  const runId = await insertRun(app, {
    ...waits,
    requestedBy: app.owner.email,
    status: 'waiting_approval',
    displayStatus: 'Waiting',
  });
  await insertApproval(app, { ...waits, environmentName: 'uat', runId });
  await insertLockTickets(app, environments.live ?? '', [{ state: 'held', ...lease(new Date()) }]);
}, BROWSER_TIMEOUT_MS);
afterAll(() => stage.close());

const PATH = '/where?project=acme/shop';
/** Waits for the matrix. */
async function openMatrix(path: string, as: 'member' | 'owner' = 'member'): Promise<ConsolePage> {
  const page = await stage.open(stage.app[as], path);
  await page.getByRole('rowheader', { name: /^s1 / }).waitFor();
  return page;
}
const row = (page: ConsolePage, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: new RegExp(`^${name} `) }) });
const search = (page: ConsolePage) => new URL(page.url()).searchParams;

test('releases and environments are shown in both themes and at both widths', async () => {
  await assertSound(stage, stage.app.owner, `${PATH}&release=s3&in=sales`, async (page) => {
    await page.getByRole('grid').waitFor();
    await page.getByRole('region', { name: 'Where s3 is and can go' }).waitFor();
  });
});

test('cells say in words where a release is, and what holds up an environment stands in its heading', async () => {
  const page = await openMatrix(PATH);
  await expect(row(page, 's1').getByRole('gridcell').allInnerTexts()).resolves.toEqual([
    expect.stringContaining('Ran before'),
    expect.stringContaining('Runs here'),
    expect.stringContaining('Ran before'),
  ]);
  await expect(row(page, 's2').getByRole('gridcell').nth(1).innerText()).resolves.toContain('Passed over');
  await expect(row(page, 's4').getByRole('rowheader').innerText()).resolves.toContain('Not yet anywhere');
  await expect(row(page, 'v1').getByRole('gridcell').nth(1).innerText()).resolves.toContain('Waits for approval');
  await page.getByRole('columnheader', { name: /^live.*Locked by/ }).waitFor();
  await page.getByRole('columnheader', { name: /^uat.*1 approval/ }).waitFor();
  await page.context().close();
});

test('arrow keys move in the grid, Enter chooses a release, and a filter does not hide where it can go', async () => {
  const page = await openMatrix(`${PATH}&envs=dev`);
  await expect(page.getByRole('columnheader').allInnerTexts()).resolves.toEqual(['Release', 'dev']);
  await page.getByRole('button', { name: 'Fold sales' }).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Where s3 is and can go' }).waitFor();
  expect(search(page).get('release')).toBe('s3');
  await page.getByRole('columnheader', { name: /^uat/ }).waitFor();
  await page.getByText('Shown beside the filter').waitFor();
  await expect(page.getByRole('rowheader', { selected: true }).innerText()).resolves.toContain('s3');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await page.getByRole('group', { name: 's3 in dev' }).getByRole('button', { name: 'Promote to uat …' }).waitFor();
  await expect(accessibilityProblems(page)).resolves.toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('group', { name: 's3 in dev' }).waitFor({ state: 'detached' });
  await expect(page.evaluate('document.activeElement.getAttribute("role")')).resolves.toBe('gridcell');
  await page.context().close();
});

test('a folded lane is kept in the address, and still names what waits for a person', async () => {
  const page = await openMatrix(PATH);
  await page.getByRole('button', { name: 'Fold service' }).click();
  await page.getByRole('link', { name: 'v1 waits for approval to uat' }).waitFor();
  expect(search(page).get('fold')).toBe('service');
  await page.reload();
  await page.getByRole('button', { name: 'Unfold service' }).waitFor();
  await expect(row(page, 'v1').count()).resolves.toBe(0);
  await page.context().close();
});

test('a member holds a release from a cell, and lets it go', async () => {
  const page = await openMatrix(PATH);
  await row(page, 's4').getByRole('gridcell').first().click();
  await page.getByRole('button', { name: 'Hold the release …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Hold s4' });
  await dialog.getByLabel('Reason').fill('waits for legal');
  await expect(accessibilityProblems(page)).resolves.toEqual([]);
  await dialog.getByRole('button', { name: 'Hold', exact: true }).click();
  await row(page, 's4').getByText('Held: waits for legal').waitFor();
  await expect(page.evaluate('document.activeElement.getAttribute("role")')).resolves.toBe('gridcell');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Release the hold …' }).click();
  await page.getByText('waits for legal').last().waitFor();
  await page.getByRole('button', { name: 'Release the hold', exact: true }).click();
  await row(page, 's4').getByText('Not yet anywhere').waitFor();
  await page.context().close();
});

test('a deployment is reported from a cell, and one that a pipeline reports appears by itself', async () => {
  const page = await openMatrix(PATH);
  await row(page, 's3').getByRole('gridcell').nth(1).click();
  await page.getByRole('button', { name: 'Report a deployment …' }).click();
  await page.getByLabel('Outcome').selectOption('Failed');
  await page.getByRole('button', { name: 'Report', exact: true }).click();
  await row(page, 's3').getByText('Failed').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await shop.report('sales', 's3', 'uat');
  await row(page, 's3').getByRole('gridcell').nth(1).getByText('Runs here').waitFor();
  await page.context().close();
});

test('what a release would change in an environment is compared from its cell', async () => {
  const page = await openMatrix(PATH);
  await row(page, 's4').getByRole('gridcell').first().click();
  await page.getByRole('button', { name: 'Compare with what runs in dev …' }).click();
  const dialog = page.getByRole('dialog', { name: 's4 against what runs in dev' });
  await dialog.getByRole('heading', { name: 'Packages' }).waitFor();
  await page.context().close();
});

test('what cannot be loaded is said, and asked again', async () => {
  const page = await stage.open(stage.app.member, '/');
  let isFailing = true;
  await page.route('**/api/releases/matrix?*', (route) =>
    isFailing
      ? route.fulfill({
          status: 500,
          contentType: 'application/problem+json',
          body: JSON.stringify({ status: 500, code: 'internal', title: 'Broken', detail: 'It broke', requestId: 'r' }),
        })
      : route.fallback(),
  );
  await page.goto(`${stage.app.url}/console${PATH}`);
  await page.getByText('It broke').waitFor();
  isFailing = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('grid').waitFor();
  await page.context().close();
});

test('a project without releases says what to do first, and several projects are chosen from', async () => {
  await stageProject(stage.app, 'acme/empty', { dev: {} });
  await stageProject(stage.app, 'acme/bare', {});
  const page = await stage.open(stage.app.owner, '/where');
  await page.getByRole('button', { name: 'acme/empty' }).click();
  await page.getByText('quayside candidate create').waitFor();
  await page.getByLabel('Project').selectOption('acme/bare');
  await page.getByText('There is no environment yet').waitFor();
  await page.context().close();
});
