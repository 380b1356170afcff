import { BROWSER_TIMEOUT_MS } from '../../support/chromium.ts';
import { assertSound, type ConsoleStage, consoleStage } from '../../support/console.ts';
import { cutRelease, success } from '../../support/releases.ts';
import { startWorker, type TestWorker } from '../../support/worker.ts';

const repositoryIdentifier = 'acme/places';
let stage: ConsoleStage;
let worker: TestWorker;
const ids: Record<string, string> = {};

beforeAll(async () => {
  stage = await consoleStage();
  const { app } = stage;
  worker = await startWorker(app, ['environment-locks-v1', 'releases-v1']);
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  for (const [orchestrationOrder, name] of ['uat', 'production'].entries()) {
    const environment = await owner.post(201, '/api/environments', {
      repositoryIdentifier,
      name,
      category: 'release',
      orchestrationOrder,
      promotion: { windows: [{ days: ['mon'], from: '08:00', to: '09:00', timezone: 'Europe/Berlin' }] },
    });
    ids[name] = environment.id;
  }
  for (const [version, places] of Object.entries({ '1.0.0': ['uat', 'production'], '1.1.0': ['uat'] })) {
    await cutRelease(app, repositoryIdentifier, version, { value: { artifacts: { shop: version } } });
    for (const place of places)
      await app
        .as(app.application)
        .post(200, '/api/release-candidates/release-event', success(repositoryIdentifier, version, place));
  }
}, BROWSER_TIMEOUT_MS);
afterAll(async () => {
  await worker.stop();
  await stage.close();
});

const pathOf = (name: string, more = '') => `/environments/${ids[name]}?project=${repositoryIdentifier}${more}`;

test('the list and the page of an environment are sound in both themes and at both widths', async () => {
  const { owner } = stage.app;
  await assertSound(stage, owner, `/environments?project=${repositoryIdentifier}`, (page) =>
    page.getByRole('link', { name: 'production' }).waitFor(),
  );
  await assertSound(stage, owner, pathOf('production', `&with=${ids.uat}`), (page) =>
    page.getByRole('row', { name: /^shop .*1\.0\.0.* 1\.1\.0$/ }).waitFor(),
  );
});

test('what runs there is shown with its moment, and another environment is compared with it', async () => {
  const page = await stage.open(stage.app.member, pathOf('production'));
  await page.getByRole('row', { name: /core 1\.0\.0 .*now|ago/ }).waitFor();
  await page.getByText('mon 08:00–09:00 Europe/Berlin').waitFor();
  await page.getByLabel('Compared with').selectOption({ label: 'uat' });
  await page.getByRole('row', { name: /^shop .*1\.0\.0.* 1\.1\.0$/ }).waitFor();
  expect(new URL(page.url()).searchParams.get('with')).toBe(ids.uat);
  await page.context().close();
});

test('it is locked, and released by typing its name; another tab sees both without being loaded again', async () => {
  const [page, other] = [
    await stage.open(stage.app.owner, pathOf('uat')),
    await stage.open(stage.app.member, pathOf('uat')),
  ];
  await other.getByText('Nobody holds it.').waitFor();
  await other.getByText('Live', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Lock', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Lock uat' });
  await dialog.getByLabel('Reason').fill('end of the quarter');
  await dialog.getByRole('button', { name: 'Lock', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  for (const each of [page, other]) await each.getByText('end of the quarter').first().waitFor();

  await page.getByRole('button', { name: 'Release', exact: true }).click();
  const release = page.getByRole('dialog', { name: /Release the lock of uat/ });
  const button = release.getByRole('button', { name: 'Release' });
  expect(await button.isDisabled()).toBe(true);
  await release.getByLabel('Type uat to confirm').fill('uat');
  await button.click();
  for (const each of [page, other]) await each.getByText('Nobody holds it.').waitFor();
  expect([...page.complaints, ...other.complaints]).toEqual([]);
  await page.context().close();
  await other.context().close();
});

test('what the service refuses stands at its field, and nothing that was typed is lost', async () => {
  const page = await stage.open(stage.app.owner, pathOf('uat'));
  await page.getByRole('button', { name: 'Lock', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Lock uat' });
  await dialog.getByLabel('Reason').fill('too long');
  await dialog.getByLabel('Minutes').fill('100000');
  await dialog.getByRole('button', { name: 'Lock', exact: true }).click();
  await dialog.getByRole('alert').waitFor();
  expect(await dialog.getByLabel('Minutes').getAttribute('aria-invalid')).toBe('true');
  expect(await dialog.getByLabel('Reason').inputValue()).toBe('too long');
  await page.context().close();
});

test('an environment that does not exist, or belongs to others, says that there is nothing', async () => {
  const page = await stage.open(stage.app.stranger, pathOf('uat'));
  await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
  await page.context().close();
});
