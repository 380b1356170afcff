import { assertSound, type ConsoleStage, consoleStage } from '../../support/console.ts';
import { BROWSER_TIMEOUT_MS } from '../../support/chromium.ts';

const repositoryIdentifier = 'acme/attended';
let stage: ConsoleStage;

beforeAll(async () => {
  stage = await consoleStage({ commands: ['analyze'] });
  const owner = stage.app.as(stage.app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  const token = await owner.post(201, '/api/application-tokens', { name: 'expires-soon', expiresIn: 3 });
  expect(token.id).toBeDefined();
}, BROWSER_TIMEOUT_MS);
afterAll(() => stage.close());

test('what needs attention is shown with its reason, in both themes and at both widths', async () => {
  await assertSound(stage, stage.app.owner, '/', (page) => page.getByText('expires-soon').first().waitFor());
});
