import { BROWSER_TIMEOUT_MS } from '../../support/chromium.ts';
import { assertSound, type ConsolePage, type ConsoleStage, consoleStage } from '../../support/console.ts';
import { startWorker, type TestWorker } from '../../support/worker.ts';

const repositoryIdentifier = 'acme/attended';
let stage: ConsoleStage;
let worker: TestWorker;

beforeAll(async () => {
  stage = await consoleStage({ commands: ['analyze'] });
  worker = await startWorker(stage.app, ['flows-v1', 'commands-v1', 'releases-v1']);
  const owner = stage.app.as(stage.app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  await owner.post(201, '/api/application-tokens', { name: 'expires-soon', expiresIn: 3 });
}, BROWSER_TIMEOUT_MS);
afterAll(async () => {
  await worker.stop();
  await stage.close();
});

const card = (page: ConsolePage, name: string) => page.getByRole('article', { name });

test('what needs attention is shown with its reason, in both themes and at both widths', async () => {
  await assertSound(stage, stage.app.owner, '/', (page) => card(page, 'expires-soon').waitFor());
});

test('it is acknowledged with a comment, and shown again when that is asked for', async () => {
  const page = await stage.open(stage.app.owner, '/');
  await card(page, 'expires-soon').getByRole('button', { name: 'Acknowledge' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Comment').fill('rotated on Monday');
  await dialog.getByRole('button', { name: 'Acknowledge' }).click();
  await card(page, 'expires-soon').waitFor({ state: 'detached' });
  await page.getByLabel('Show acknowledged').check();
  await card(page, 'expires-soon').getByText('rotated on Monday').waitFor();
  expect(new URL(page.url()).searchParams.get('all')).toBe('true');
  await page.context().close();
});

test('what happens is shown as it happens, and only what the role may see', async () => {
  const { app, open } = stage;
  const page = await open(app.member, '/');
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByText('Nothing has happened yet').waitFor();
  // Tokens are for owners.
  expect(await page.getByRole('article').count()).toBe(0);
  await app.as(app.member).post(202, '/api/flows/run', { payload: { id: 'analyze', repositoryIdentifier } });
  await page.getByRole('link', { name: 'analyze' }).waitFor();
  await page.context().close();
});

test('every word of the page is of the catalog or of the service', async () => {
  const page = await stage.open(stage.app.owner, '/signed-in', { storage: { 'quayside.locale': 'pseudo' } });
  let told = '';
  page.on('response', (response) => {
    if (response.url().includes('/api/') && /json/.test(response.headers()['content-type'] ?? ''))
      void response.text().then((text) => (told += text));
  });
  await page.goto(`${stage.app.url}/console/?all=true`);
  await card(page, 'expires-soon').waitFor();
  const texts = await page.evaluate<string[]>(`(() => {
    const found = [];
    const walk = document.createTreeWalker(document.querySelector('#console'), NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const { parentElement, data } = walk.currentNode;
      if (!parentElement.closest('time, kbd')) found.push(data);
    }
    return found;
  })()`);
  expect(texts.filter((text) => text.includes('⟦')).length).toBeGreaterThan(10);
  const beside = texts
    .map((text) => text.replaceAll(/⟦[^⟧]*⟧/g, '').trim())
    .filter((text) => /\p{L}{2}/u.test(text) && !told.includes(JSON.stringify(text).slice(1, -1)));
  expect(beside).toEqual([]);
  await page.context().close();
});
