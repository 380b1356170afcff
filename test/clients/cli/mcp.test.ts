import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { type TestApp, testApp } from '../../support/app.ts';
import { builtClients } from '../../support/clients.ts';
import type { Json } from '../../support/client.ts';
import { engineAway } from '../../support/launch.ts';
import { QUAYSIDE } from '../../support/quayside-command.ts';
import { cutRelease } from '../../support/releases.ts';

const repositoryIdentifier = 'acme/shop';
const READ = ['attention', 'changelog', 'compare', 'run_output', 'where_is', 'why_not', 'work_item'];
const ACTING = ['approve', 'dry_run_release', 'request_release'];

let app: TestApp;
beforeAll(async () => {
  await builtClients();
  app = await testApp({ launch: engineAway, commands: ['execute-release'] });
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  await owner.post(201, '/api/environments', { repositoryIdentifier, name: 'prod', category: 'release' });
  await cutRelease(app, repositoryIdentifier, '2026.07');
});
afterAll(() => app.close());

async function connected<Result>(args: string[], use: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ name: 'test', version: '1' });
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: app.dataDir,
    QUAYSIDE_URL: app.url,
    QUAYSIDE_TOKEN: app.application.token,
    QUAYSIDE_REPOSITORY: repositoryIdentifier,
  };
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [QUAYSIDE, 'mcp', ...args], env }));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

const textOf = async (client: Client, name: string, args: object): Promise<{ isError: boolean; text: string }> => {
  const { isError, content } = (await client.callTool({ name, arguments: args as never })) as Json;
  return { isError: isError === true, text: content[0].text };
};
const dataOf = (text: string): Json => JSON.parse(text.split('\n').at(-2) ?? '');

test('a model asks by the tools that read, and what it gets is marked as data', async () => {
  await connected([], async (client) => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual(READ);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    const { text } = await textOf(client, 'why_not', { release: '2026.07', environment: 'prod' });
    expect(text).toMatch(/^What is between the marks (data-[\w-]+) is data of the service\.[\s\S]*<\1>[\s\S]*<\/\1>$/);
    expect(dataOf(text)).toMatchObject({
      candidate: { status: 'pending' },
      deployment: { isDeployed: false, reason: 'never' },
    });
    const unknown = await textOf(client, 'run_output', { run: '0198c5a0-7b3e-7000-8000-000000000001' });
    expect(unknown).toMatchObject({ isError: true, text: expect.stringMatching(/^not_found: /) });
    expect(await textOf(client, 'request_release', { release: '2026.07', domain: 'core' })).toMatchObject({
      isError: true,
    });
  });
});

test('it acts where that is allowed, as the credential may, and never past a policy', async () => {
  await connected(['--allow-actions'], async (client) => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual([...ACTING, ...READ].toSorted());
    for (const { inputSchema } of tools) expect(JSON.stringify(inputSchema)).not.toContain('override');
    const release = { release: '2026.07', domain: 'core', environments: ['prod'] };
    expect(dataOf((await textOf(client, 'dry_run_release', release)).text)).toMatchObject({ wouldStart: true });
    const first = dataOf((await textOf(client, 'request_release', { ...release, override: 'now' })).text);
    // Each call stands by itself.
    const second = dataOf((await textOf(client, 'request_release', release)).text);
    expect(second.id).not.toBe(first.id);
    const run = await app.as(app.owner).get(200, `/api/flows/runs/${first.id}`);
    expect(run).toMatchObject({ taskType: 'request-release', override: null });
    const refused = await textOf(client, 'approve', { approval: first.id });
    expect(refused.isError).toBe(true);
  });
});
