import { BROWSER_TIMEOUT_MS } from '../../support/chromium.ts';
import { type ConsoleStage, consoleStage } from '../../support/console.ts';

let stage: ConsoleStage;

beforeAll(async () => {
  stage = await consoleStage();
  await stage.app
    .as(stage.app.owner)
    .post(201, '/api/projects', { identifier: 'acme/<script>alert(1)', platform: 'host-a' });
}, BROWSER_TIMEOUT_MS);
afterAll(() => stage.close());

test('who is not signed in comes back to the same address, with its filters', async () => {
  const { owner } = stage.app;
  const page = await stage.open(undefined, '/environments?category=release&locked=true');
  await page.waitForURL(/\/api\/auth\/sign-in/);
  await page.getByLabel('E-mail').fill(owner.email);
  await page.getByLabel('Password').fill(owner.password);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/console\/environments\?category=release&locked=true$/);
  expect(await page.getByLabel('Category').inputValue()).toBe('release');
  await page.context().close();
});

test('tabs of one browser share one stream, and another one takes over when its tab is closed', async () => {
  const { app, open } = stage;
  const page = await open(app.owner, '/');
  const context = page.context();
  await page.getByText('Live', { exact: true }).waitFor();
  let streams = 0;
  context.on('request', (request) => {
    if (request.url().includes('/api/changes')) streams += 1;
  });
  const second = await context.newPage();
  await second.goto(`${app.url}/console/environments`);
  await second.getByText('Live', { exact: true }).waitFor();
  expect(streams).toBe(0);
  await page.close();
  const { id } = await app.as(app.owner).post(201, '/api/projects', { identifier: 'acme/told', platform: 'host-a' });
  expect(id).toBeDefined();
  await second.getByLabel('Project').getByText('acme/told').waitFor({ state: 'attached' });
  expect(streams).toBe(1);
  await context.close();
});

test('keys lead everywhere: the palette to a project, letters to pages, and Escape back to where the focus was', async () => {
  const { app, open } = stage;
  const page = await open(app.member, '/');
  await page.getByRole('heading', { name: 'Needs attention', level: 1 }).waitFor();
  const opener = page.getByRole('button', { name: /Go to/ });
  await opener.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('combobox', { name: /A page, a project/ }).waitFor();
  await page.keyboard.press('Escape');
  expect(await page.evaluate<string>('document.activeElement.textContent')).toMatch(/^Go to/);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('<script>');
  await page.getByRole('listbox').getByRole('option', { name: 'acme/<script>alert(1)' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/project=acme/);
  await page.keyboard.press('g');
  await page.keyboard.press('e');
  await page.getByRole('heading', { name: 'Environments', level: 1 }).waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).getByText('g e').waitFor();
  expect(page.complaints).toEqual([]);
  await page.context().close();
});

test('an unknown page says so within the console, with the way back', async () => {
  const page = await stage.open(stage.app.member, '/no/such/page');
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
  await page.getByRole('link', { name: 'To what needs attention' }).click();
  await page.getByRole('heading', { name: 'Needs attention', level: 1 }).waitFor();
  await page.context().close();
});

test('a part that is gone since a newer version is served is loaded once more, and then said', async () => {
  const { app, open } = stage;
  const page = await open(app.member, '/');
  await page.getByRole('heading', { name: 'Needs attention', level: 1 }).waitFor();
  let loads = 0;
  page.on('load', () => (loads += 1));
  await page.route(/assets\/environments\.page/, (route) => route.fulfill({ status: 404 }));
  await page.getByRole('link', { name: 'Environments' }).click();
  await page.getByRole('heading', { name: 'This page has failed' }).waitFor();
  expect(loads).toBe(1);
  await page.context().close();
});

test('where the browser does not let pages copy, the text is shown selected', async () => {
  const { app, open } = stage;
  const page = await open(app.owner, '/work-items/PROJ-1?project=acme/told');
  await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  const dialog = page.getByRole('dialog', { name: 'Copy as curl' });
  await dialog.getByRole('textbox').waitFor();
  const selected = '(({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))';
  expect(await page.evaluate<string>(`${selected}(document.activeElement)`)).toMatch(/^curl -X GET .*PROJ-1/);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.context().close();
});

test('what was typed stays when somebody clicks beside a form', async () => {
  const { app, open } = stage;
  const page = await open(app.owner, '/runs?status=failed');
  await page.getByRole('button', { name: 'Save this view' }).click();
  await page.getByRole('dialog').getByRole('textbox').first().fill('mine');
  await page.mouse.click(5, 5);
  expect(await page.getByRole('dialog').getByRole('textbox').first().inputValue()).toBe('mine');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /A page, a project/ }).waitFor();
  await page.mouse.click(5, 5);
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.context().close();
});

test('a palette whose file is gone since a newer version is served says so', async () => {
  const { app, open } = stage;
  const page = await open(app.member, '/');
  await page.getByRole('heading', { name: 'Needs attention', level: 1 }).waitFor();
  await page.route(/assets\/palette/, (route) => route.fulfill({ status: 404 }));
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog', { name: 'There is a newer version of this page' }).waitFor();
  await page.unroute(/assets\/palette/);
  await page.getByRole('button', { name: 'Load again' }).click();
  await page.getByRole('heading', { name: 'Needs attention', level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /A page, a project/ }).waitFor();
  await page.context().close();
});

test('another project takes the filters of the one before away', async () => {
  const { app, open } = stage;
  const page = await open(app.member, '/environments?category=release&locked=true');
  await page.getByLabel('Project').selectOption('acme/<script>alert(1)');
  await page.waitForURL(/environments\?project=[^&]*$/);
  await page.context().close();
});

test('a service that is away is said, and what was shown stays', async () => {
  const { app, open } = stage;
  const page = await open(app.member, '/environments');
  await page.getByRole('heading', { name: 'There is no environment' }).waitFor();
  await page.route(/\/api\/environments/, (route) => route.fulfill({ status: 500, body: 'no' }));
  await page.getByLabel('Only locked ones').check();
  await page.getByRole('heading', { name: 'This could not be loaded' }).waitFor();
  await page.unroute(/\/api\/environments/);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: 'This could not be loaded' }).waitFor({ state: 'detached' });
  await page.context().close();
});
