import { accessibilityProblems, assertSound, type ConsoleStage, consoleStage } from '../../support/console.ts';
import { BROWSER_TIMEOUT_MS } from '../../support/chromium.ts';
import { cutRelease } from '../../support/releases.ts';
import { eventually, startWorker, type TestWorker } from '../../support/worker.ts';

const repositoryIdentifier = 'acme/approved';
let stage: ConsoleStage;
let worker: TestWorker;

/** Asks for a release, in the name of a pipeline; answers the id of its approval. */
async function request(releaseName: string, environmentName: string): Promise<string> {
  const { app } = stage;
  await cutRelease(app, repositoryIdentifier, releaseName);
  const payload = { id: 'execute-release', repositoryIdentifier, domain: 'core', releaseName, environmentName };
  const { id: runId } = await app.as(app.application).post(202, '/api/flows/run', { payload });
  const [approval] = await eventually(
    () => app.sql<{ id: string }>('select id from approval where run_id = ?', [runId]),
    (rows) => rows.length === 1,
  );
  return approval?.id ?? '';
}
const statusOf = async (id: string): Promise<string> => {
  const { status } = await stage.app.as(stage.app.owner).get(200, `/api/flows/approvals/${id}`);
  return status;
};

beforeAll(async () => {
  stage = await consoleStage({ commands: ['execute-release'] });
  const { app } = stage;
  worker = await startWorker(app, ['flows-v1', 'commands-v1', 'approvals-v1', 'environment-locks-v1']);
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  const policies = { uat: {}, prod: { approvers: [app.owner.email, app.member.email] } };
  for (const [name, approvalPolicy] of Object.entries(policies))
    await owner.post(201, '/api/environments', { repositoryIdentifier, name, category: 'release', approvalPolicy });
  await request('r1', 'uat');
  await request('r2', 'uat');
}, BROWSER_TIMEOUT_MS);
afterAll(async () => {
  await worker.stop();
  await stage.close();
});

test('what waits is shown in both themes and at both widths', async () => {
  await assertSound(stage, stage.app.owner, '/inbox', (page) =>
    page.getByRole('article', { name: 'r1 → uat' }).waitFor(),
  );
});

test('several are approved with one comment, the oldest stands first, and the badge counts what is left', async () => {
  const page = await stage.open(stage.app.owner, `/inbox?project=${repositoryIdentifier}&environment=uat`);
  await page.getByRole('article').first().waitFor();
  await expect(page.getByRole('article').getByRole('heading').allTextContents()).resolves.toEqual([
    'r1 → uat',
    'r2 → uat',
  ]);
  await page.getByRole('link', { name: /Inbox.*2 wait for you/ }).waitFor();
  const id = await request('r3', 'uat');
  await page.getByRole('article', { name: 'r3 → uat' }).waitFor();
  await page.getByLabel('Choose r1 → uat').check();
  await page.getByLabel('Choose r3 → uat').check();
  await page.getByText('2 chosen').waitFor();
  await page.getByRole('button', { name: 'Approve' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Approve 2 requests' });
  await dialog.getByLabel('Comment').fill('looked at');
  expect(await accessibilityProblems(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('heading', { name: 'What came of it' }).waitFor();
  await page.getByText('2 of 2 decided').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await expect(statusOf(id)).resolves.toBe('approved');
  await page.getByRole('article', { name: 'r1 → uat' }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: /Inbox.*1 waits for you/ }).waitFor();
  await page.getByRole('link', { name: 'Decided' }).click();
  await page.getByRole('article', { name: 'r3 → uat' }).getByText('looked at').waitFor();
  expect(page.url()).toContain('tab=decided');
  await page.context().close();
});

test('who decided meanwhile is said, and nothing is changed', async () => {
  const { app } = stage;
  const id = await request('r4', 'prod');
  const page = await stage.open(app.owner, '/inbox?environment=prod');
  await page.getByRole('article', { name: 'r4 → prod' }).getByRole('button', { name: 'Approve' }).click();
  const dialog = page.getByRole('dialog', { name: 'Approve 1 request' });
  await app.as(app.member).post(200, `/api/flows/approvals/${id}/reject`, { comment: 'not today' });
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await page.getByText(`Rejected by ${app.member.email} meanwhile; nothing was changed`).waitFor();
  await expect(statusOf(id)).resolves.toBe('rejected');
  await page.context().close();
});

test('who may not decide sees why, and decides nothing', async () => {
  const page = await stage.open(stage.app.member, '/inbox?environment=uat');
  await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor();
  await page.getByRole('link', { name: 'All open' }).click();
  await page.getByText('You may not approve it: Only approvers may decide').first().waitFor();
  await expect(page.getByRole('button', { name: 'Approve' }).count()).resolves.toBe(0);
  await page.context().close();
});

test('a failure of the service is said, and it is asked again on demand', async () => {
  const page = await stage.open(stage.app.owner, '/');
  await page.route('**/api/flows/approvals?*includeChanges*', (route) =>
    route.fulfill({ status: 500, contentType: 'application/problem+json', body: JSON.stringify(BROKEN) }),
  );
  await page.getByRole('link', { name: /^Inbox/ }).click();
  await page.getByRole('alert').getByText('It broke').waitFor();
  await page.unroute('**/api/flows/approvals?*includeChanges*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('article').first().waitFor();
  await page.context().close();
});

const BROKEN = { type: 'urn:quayside:problem:internal', title: 'x', status: 500, detail: 'It broke', code: 'internal' };
