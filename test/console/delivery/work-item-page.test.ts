import { assertSound } from '../../support/console.ts';
import { type HotfixStage, hotfixStage } from '../../support/console-hotfix.ts';
import { BROWSER_TIMEOUT_MS } from '../../support/chromium.ts';

let stage: HotfixStage;

beforeAll(async () => {
  stage = await hotfixStage();
}, BROWSER_TIMEOUT_MS);
afterAll(() => stage.close());

test('where a work item is, is said in one sentence, in both themes and at both widths', async () => {
  const address = `/work-items/SHOP-50?project=${stage.repositoryIdentifier}`;
  await assertSound(stage, stage.app.member, address, (page) =>
    page.getByText(/^SHOP-50 has been in prod since \d\d:\d\d, uat lacks it$/).waitFor(),
  );
});

test('a key is found from the search page, in all projects, and one that nobody mentions is not known', async () => {
  const page = await stage.open(stage.app.owner, '/work-items');
  await page.getByLabel('Key').fill('SHOP-1');
  await page.getByRole('button', { name: 'Find' }).click();
  await page.getByText(/^SHOP-1 has been in prod since/).waitFor();
  await page.getByRole('row', { name: /uat All of it/ }).waitFor();
  await page.goto(`${stage.app.url}/console/work-items/SHOP-999`);
  await page.getByRole('heading', { name: 'SHOP-999 is not known' }).waitFor();
  await page.context().close();
});

test('the sentence changes when the release arrives', async () => {
  const { app, repositoryIdentifier } = stage;
  const page = await stage.open(app.member, `/work-items/SHOP-52?project=${repositoryIdentifier}`);
  await page.getByText(/^SHOP-52 is in no environment yet, the newest candidate that has all of it is r2/).waitFor();
  await app.as(app.application).post(200, '/api/release-candidates/release-event', {
    repositoryIdentifier,
    domain: 'core',
    releaseName: 'r2',
    environmentName: 'uat',
    deploymentStatus: 'Success',
  });
  await page.getByText(/^SHOP-52 has been in uat since \d\d:\d\d, prod lacks it$/).waitFor();
  await page.context().close();
});
