import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BrowserbaseSimulator, browserbaseSimulator } from '../simulators/browserbase/simulator.ts';
import { type CrmSimulator, crmSimulator } from '../simulators/crm-org/simulator.ts';
import { gitHost, type GitHostSimulator } from '../simulators/git-hosts.ts';
import { testApp, type TestApp } from '../support/app.ts';
import { differenceOf, type DocumentedExample, documentedExamples } from '../support/documented-examples.ts';
import { eventually } from '../support/eventually.ts';
import { type ExampleShell, exampleShell } from '../support/example-shell.ts';
import { freePort } from '../support/free-port.ts';
import { startWorker, type TestWorker } from '../support/worker.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (page: string) => readFileSync(join(ROOT, page), 'utf8');
/** In the order in which the README lists them: pages go on from those before. */
const TASKS = [...textOf('README.md').matchAll(/^- .*\((docs\/tasks\/[\w-]+\.md)\)/gm)].map(([, page = '']) => page);
const PAGES = ['README.md', ...TASKS];
const examplesOf = (page: string) => documentedExamples(textOf(page));

let app: TestApp;
let worker: TestWorker;
let crm: CrmSimulator;
let tracker: GitHostSimulator;
let browsers: BrowserbaseSimulator;
let dataDir: string;
/** What a reader puts into the variables of a block that is given. */
let given: Record<string, string>;

beforeAll(async () => {
  const port = await freePort();
  app = await testApp({
    env: {
      COMMANDS_FILE: join(ROOT, 'docs/tasks/commands.json'),
      ALLOW_LOCAL_GIT: 'true',
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
    },
  });
  worker = await startWorker(app);
  dataDir = mkdtempSync(join(tmpdir(), 'quayside-docs-'));
  const { email, password } = app.owner;
  writeFileSync(join(dataDir, 'instance.json'), JSON.stringify({ url: app.url }));
  writeFileSync(join(dataDir, 'owner.json'), JSON.stringify({ tenant: app.tenant.slug, email, password }, null, 2));
  crm = await crmSimulator();
  tracker = await gitHost('host-a');
  browsers = await browserbaseSimulator();
  given = { AUTH_URL: crm.org('acme').authUrl, TRACKER: tracker.url };
  // In place of a Chromium on this machine.
  await app.as(app.owner).post(201, '/api/integrations', {
    kind: 'browser',
    name: 'Browsers',
    baseUrl: browsers.url,
    credentials: { type: 'token', token: browsers.apiKey },
  });
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  await Promise.all([crm.close(), tracker.close(), browsers.close()]);
  rmSync(dataDir, { recursive: true, force: true });
});

/** Runs a block, and says how what it prints differs from what the page shows. */
async function outcomeOf(shell: ExampleShell, example: DocumentedExample): Promise<string | undefined> {
  const { printed, complained } = await shell.run(example.commands);
  if (complained !== '') throw new Error(complained);
  const problem = /^.*"code":"\w+","requestId".*$/m.exec(printed)?.[0];
  if (problem !== undefined && !example.expected?.text.includes('"code"')) throw new Error(problem);
  return differenceOf(example, printed);
}

describe.each(PAGES)('%s', (page) => {
  test('prints what it shows', async () => {
    const shell = exampleShell(ROOT, { DATA_DIR: dataDir });
    try {
      for (const example of examplesOf(page)) {
        const { kind, commands, line } = example;
        if (kind === 'console') continue;
        if (kind === 'given') {
          for (const [, name = ''] of commands.matchAll(/^(\w+)=/gm))
            await shell.run(`${name}='${given[name] ?? `no ${name}`}'`);
          continue;
        }
        const wrong =
          kind === 'until'
            ? await eventually(
                () => outcomeOf(shell, example),
                (outcome) => outcome === undefined,
              )
            : await outcomeOf(shell, example);
        if (wrong !== undefined) throw new Error(`${page}, line ${line}: ${commands}${wrong}`);
      }
    } finally {
      await shell.close();
    }
  });
});

test('the README lists every page of a task', () => {
  expect(TASKS.toSorted()).toEqual(globSync('docs/tasks/*.md', { cwd: ROOT }).toSorted());
});

test('commands that pages start programs with are scripts of the package', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
  const named = PAGES.flatMap(examplesOf)
    .filter(({ kind }) => kind === 'console')
    .flatMap(({ commands }) => [...commands.matchAll(/npm run (?:-s )?([\w:-]+)/g)].map(([, name]) => name));
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
});
