import { BROWSER_TIMEOUT_MS } from '../../support/chromium.ts';
import {
  accessibilityProblems,
  type ConsolePage,
  type ConsoleStage,
  consoleStage,
  isTooWide,
  LOOKS,
  picture,
} from '../../support/console.ts';
import { type StagedProject, stageProject } from '../../support/console-releases.ts';
import { idleEngine } from '../../support/launch.ts';

let stage: ConsoleStage;
let shop: StagedProject;
let candidate: string;

beforeAll(async () => {
  stage = await consoleStage({ launch: idleEngine, commands: ['execute-release'] });
  const { app } = stage;
  const hour = 3_600_000;
  const freeze = {
    from: new Date(Date.now() - hour).toISOString(),
    to: new Date(Date.now() + 3 * hour).toISOString(),
    reason: 'year end',
  };
  const free = { approvalPolicy: { skipApproval: true } };
  shop = await stageProject(app, 'acme/shop', {
    dev: free,
    uat: { approvalPolicy: { approvers: [app.member.email], minApprovals: 1 } },
    frozen: {
      ...free,
      promotion: {
        freezes: [freeze],
        windows: [
          {
            days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
            from: '00:00',
            to: '23:59',
            timezone: 'Europe/Berlin',
          },
        ],
      },
    },
    live: { ...free, promotion: { after: ['uat'] } },
    soaked: { ...free, promotion: { after: ['dev'], soakMinutes: 600 } },
  });
  candidate = await shop.release('sales', 's1', ['dev']);
}, BROWSER_TIMEOUT_MS);
afterAll(() => stage.close());

const IS_DIALOG_TOO_WIDE =
  '[...document.querySelectorAll("dialog[open]")].some((each) => each.scrollWidth > each.clientWidth)';

/** The dialog for an environment, opened from the page of the candidate. */
async function dialogOf(page: ConsolePage, environment: string, release = 's1') {
  await page.getByRole('button', { name: 'Can it go now?', exact: true }).first().click();
  await page.getByRole('dialog').getByLabel('Environment').selectOption(environment);
  const dialog = page.getByRole('dialog', { name: `Can ${release} go to ${environment} now?` });
  await dialog.getByRole('list', { name: 'Gates' }).waitFor();
  return dialog;
}

const gatesOf = (page: ConsolePage) => page.getByRole('list', { name: 'Gates' }).getByRole('listitem').allInnerTexts();
const open = (as: 'owner' | 'member') => stage.open(stage.app[as], `/candidates/${candidate}?project=acme/shop`);

test('the gates are told in order, each in words, in both themes and at both widths', async () => {
  for (const look of LOOKS) {
    const page = await stage.open(stage.app.owner, `/candidates/${candidate}?project=acme/shop`, look);
    const dialog = await dialogOf(page, 'frozen');
    await dialog.getByText('It would wait at these gates').waitFor();
    await picture(page, `can-it-go-${look.width}-${look.theme}`);
    await expect(accessibilityProblems(page)).resolves.toEqual([]);
    await expect(isTooWide(page)).resolves.toBe(false);
    await expect(page.evaluate(IS_DIALOG_TOO_WIDE)).resolves.toBe(false);
    expect(page.complaints).toEqual([]);
    await page.context().close();
  }
});

test('a closed window says when it opens, in the zone of the environment as well; a run may fail there instead', async () => {
  const page = await open('owner');
  const dialog = await dialogOf(page, 'frozen');
  const gates = await gatesOf(page);
  expect(gates.map((text) => text.split('\n')[0])).toEqual([
    'Hold',
    'Elsewhere first',
    'Soak',
    'Approval',
    'Window',
    'Lock',
    'Executor',
  ]);
  expect(gates[4]).toMatch(/Waits[\s\S]*year end[\s\S]*in Europe\/Berlin/);
  await dialog.getByLabel('Fail if the window is closed').check();
  await dialog.getByText('The run would fail here').waitFor();
  await expect(dialog.getByRole('button', { name: 'Request it' }).isDisabled()).resolves.toBe(true);
  await page.context().close();
});

test('an owner passes the policy with a reason, and a member is not asked', async () => {
  const page = await open('owner');
  const dialog = await dialogOf(page, 'frozen');
  await dialog.getByLabel('Override the policy').check();
  await dialog.getByText('It can go now').waitFor();
  const start = dialog.getByRole('button', { name: 'Request it' });
  await expect(start.isDisabled()).resolves.toBe(true);
  await dialog.getByLabel('Why').fill('the shop is down');
  await start.click();
  await page.waitForURL(/\/runs\//);
  const id = new URL(page.url()).pathname.split('/').at(-1);
  await expect(stage.app.as(stage.app.owner).get(200, `/api/flows/runs/${id}`)).resolves.toMatchObject({
    taskType: 'request-release',
    override: { reason: 'the shop is down' },
  });
  await page.context().close();
  const other = await open('member');
  const seen = await dialogOf(other, 'frozen');
  await seen.getByText('How to start it').waitFor();
  await expect(seen.getByLabel('Override the policy').count()).resolves.toBe(0);
  await other.context().close();
});

test('what must come before is named, and can be taken along', async () => {
  const page = await open('owner');
  const dialog = await dialogOf(page, 'live');
  await dialog.getByText('It cannot go now').waitFor();
  await dialog.getByLabel('Take it to uat first').check();
  await dialog.getByText('It would wait at these gates').waitFor();
  await expect(dialog.getByRole('button', { name: 'Request it and wait' }).isEnabled()).resolves.toBe(true);
  await page.context().close();
});

test('a soak refuses no request: it waits, and says until when', async () => {
  const page = await open('member');
  const dialog = await dialogOf(page, 'soaked');
  await dialog.getByText('In use for long enough').waitFor();
  await expect(dialog.getByRole('button', { name: 'Request it and wait' }).isEnabled()).resolves.toBe(true);
  await page.context().close();
});

test('a request leads to its run, and a second one for the same release warns', async () => {
  const id = await shop.release('sales', 's3', ['dev']);
  const page = await stage.open(stage.app.owner, `/candidates/${id}?project=acme/shop`);
  const dialog = await dialogOf(page, 'uat', 's3');
  await expect(dialog.getByText('on its way there already').count()).resolves.toBe(0);
  await dialog.getByRole('button', { name: 'Request it and wait' }).click();
  await page.waitForURL(/\/runs\/[0-9a-f-]{36}/);
  await page.goBack();
  await page.getByText('It is requested, and begins soon.').waitFor();
  await dialogOf(page, 'uat', 's3');
  await page.getByText('on its way there already').waitFor();
  await page.context().close();
});

test('a refusal that comes meanwhile is told in the words of the service', async () => {
  const page = await open('member');
  const dialog = await dialogOf(page, 'dev');
  const button = dialog.getByRole('button', { name: 'Request it' });
  await button.waitFor();
  await page.route('**/api/flows/run', (route) =>
    route.fulfill({
      status: 409,
      contentType: 'application/problem+json',
      body: JSON.stringify({ status: 409, code: 'held', title: 'Conflict', detail: 'Ada holds it', requestId: 'r' }),
    }),
  );
  await button.click();
  await dialog.getByRole('alert').getByText('Ada holds it').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await expect(page.evaluate('document.activeElement.textContent')).resolves.toBe('Can it go now?');
  await page.context().close();
});

test('a hold closes every way', async () => {
  const { app } = stage;
  const held = await shop.release('sales', 's2', ['dev']);
  await app.as(app.owner).post(200, `/api/release-candidates/${held}/hold`, { reason: 'legal' });
  const page = await stage.open(app.member, `/candidates/${held}?project=acme/shop`);
  await page.getByRole('button', { name: 'Can it go now?', exact: true }).first().click();
  await page.getByRole('dialog').getByLabel('Environment').selectOption('uat');
  await page.getByText('Held: legal').last().waitFor();
  await page.getByText('It cannot go now').waitFor();
  await page.context().close();
});
