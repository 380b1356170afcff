import { BROWSER_TIMEOUT_MS } from '../../support/chromium.ts';
import { type ConsoleStage, consoleStage } from '../../support/console.ts';
import { stageProject } from '../../support/console-releases.ts';
import { idleEngine } from '../../support/launch.ts';

const CANDIDATES = 10_000;
const ENVIRONMENTS = 30;
const NODES_MAX = 1_500;

let stage: ConsoleStage;
beforeAll(async () => {
  stage = await consoleStage({ launch: idleEngine });
  const { app } = stage;
  const names = Array.from({ length: ENVIRONMENTS }, (_, index) => [`e${index}`, {}]);
  await stageProject(app, 'acme/large', Object.fromEntries(names));
  await app.sql(
    `insert into release_candidate (id, tenant_id, project_id, domain, release_name, commit_sha, branch, value, status, created_by, updated_by, created_at)
     select uuidv7(), tenant_id, id, 'domain-' || i % 2, 'release-' || i, md5(i::text), 'main', '{"artifacts": {"app": "1.0.0"}}', 'in_progress', 'a@b.example', 'a@b.example', now() - make_interval(mins => i)
     from project, generate_series(1, ?) i where identifier = 'acme/large'`,
    [CANDIDATES],
  );
}, BROWSER_TIMEOUT_MS);
afterAll(() => stage.close());

test('of ten thousand releases and thirty environments only what is seen is drawn', async () => {
  const page = await stage.open(stage.app.member, '/where?project=acme/large');
  const grid = page.getByRole('grid');
  await grid.getByText('release-2', { exact: true }).waitFor();
  await expect(grid.getAttribute('aria-colcount')).resolves.toBe(String(ENVIRONMENTS + 1));
  const nodes = () => page.evaluate<number>('document.querySelectorAll("*").length');
  await expect(nodes()).resolves.toBeLessThanOrEqual(NODES_MAX);

  // The first page of a lane has 50 releases; the next is loaded when its end is seen.
  await page.getByRole('button', { name: 'Fold domain-0' }).focus();
  for (let presses = 0; presses < 6; presses++) await page.keyboard.press('PageDown');
  await grid.getByText('release-102', { exact: true }).waitFor();
  for (let presses = 0; presses < 2; presses++) await page.keyboard.press('PageDown');
  await expect(nodes()).resolves.toBeLessThanOrEqual(NODES_MAX);
  await expect(page.evaluate('document.activeElement.innerText')).resolves.toContain('release-128');

  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('End');
  await page.getByRole('columnheader', { name: 'e29' }).waitFor();
  await expect(page.evaluate('document.activeElement.getAttribute("aria-colindex")')).resolves.toBe('31');
  await expect(nodes()).resolves.toBeLessThanOrEqual(NODES_MAX);

  await page.getByLabel('Release or commit').fill('release-9999');
  await grid.getByText('release-9999', { exact: true }).waitFor();
  await expect(grid.getAttribute('aria-rowcount')).resolves.toBe('3');
  await page.context().close();
});
