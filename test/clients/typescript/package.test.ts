import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundledSize } from '../../../tools/clients/size.ts';
import { builtClients, sendJson, smallServer } from '../../support/clients.ts';

const ROOT = new URL('../../..', import.meta.url).pathname;
const TSC = join(ROOT, 'node_modules/typescript-native/bin/tsc');

let place: string;
beforeAll(async () => {
  await builtClients();
  place = mkdtempSync(join(tmpdir(), 'quayside-consumer-'));
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

const run = (command: string, args: string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

const CONSUMER = `
const client = createClient({ url: process.env.SERVICE ?? '', token: 'qs_app_1' });
const names: string[] = [];
async function main(): Promise<void> {
  const { data, error } = await createProject({
    client,
    body: { identifier: 'acme/shop', platform: 'host-a', remoteUrl: 'https://git.test/shop' },
  });
  if (error !== undefined) {
    const code: 'invalid_request' | 'not_found' | undefined =
      error.code === 'invalid_request' || error.code === 'not_found' ? error.code : undefined;
    names.push(String(code), ...(error.errors ?? []).map(({ pointer }) => pointer));
  } else names.push(data.identifier);
  for await (const project of items(listProjects, { client, query: { limit: 2 } })) names.push(project.identifier);
  for await (const run of items(listFlowRuns, { client })) names.push(run.taskType);
  const mayCreate: boolean = can('createProject', 'member');
  console.log(JSON.stringify({ names, mayCreate }));
}
void main();
`;
const NAMES = 'can, createClient, createProject, items, listFlowRuns, listProjects';

test('a consumer outside of the repository compiles strictly and runs, as ES module and as CommonJS', async () => {
  const tarball = run(
    'npm',
    ['pack', '--silent', '--pack-destination', place],
    join(ROOT, 'clients/typescript'),
  ).trim();
  writeFileSync(join(place, 'package.json'), JSON.stringify({ name: 'consumer', private: true }));
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--silent', join(place, tarball)], place);
  expect(readdirSync(join(place, 'node_modules/@quayside/client')).toSorted()).toEqual(['dist', 'package.json']);
  const server = await smallServer(({ url }, response) => {
    const { searchParams, pathname } = new URL(url, 'http://localhost');
    if (pathname === '/api/flows/runs') return sendJson(response, 200, { runs: [{ taskType: 'build' }], count: 1 });
    const isFirst = searchParams.get('offset') === null;
    const link = { Link: '</api/projects?limit=2&offset=2>; rel="next"' };
    if (searchParams.has('limit'))
      return sendJson(response, 200, { items: [{ identifier: isFirst ? 'a' : 'b' }] }, isFirst ? link : {});
    return sendJson(response, 400, {
      code: 'invalid_request',
      status: 400,
      detail: 'wrong',
      errors: [{ detail: 'is taken', pointer: '#/body/identifier' }],
    });
  });
  try {
    for (const [type, source] of [
      ['module', `import { ${NAMES} } from '@quayside/client';\n${CONSUMER}`],
      ['commonjs', `import quayside = require('@quayside/client');\nconst { ${NAMES} } = quayside;\n${CONSUMER}`],
    ] as const) {
      const folder = join(place, type);
      mkdirSync(folder);
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ type }));
      writeFileSync(join(folder, 'consumer.ts'), source);
      const compilerOptions = {
        target: 'es2023',
        lib: ['es2023', 'dom'],
        module: 'nodenext',
        strict: true,
        noUncheckedIndexedAccess: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: true,
        types: ['node'],
        typeRoots: [join(ROOT, 'node_modules/@types')],
      };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
      const { stdout: complaints } = spawnSync(process.execPath, [TSC, '-p', folder], { encoding: 'utf8' });
      expect(complaints).toBe('');
      const printed = await runConsumer(join(folder, 'consumer.js'), server.url);
      expect(JSON.parse(printed)).toEqual({
        names: ['invalid_request', '#/body/identifier', 'a', 'b', 'build'],
        mayCreate: false,
      });
    }
  } finally {
    await server.close();
  }
});

/** Not synchronously: the server that it asks is in this process. */
async function runConsumer(file: string, service: string): Promise<string> {
  const { execFile } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [file], { env: { ...process.env, SERVICE: service } }, (error, stdout, stderr) =>
      error ? reject(new Error(stderr)) : resolve(stdout),
    );
  });
}

test('ten operations are at most 15 KiB when packed', async () => {
  const { bytes, modules } = await bundledSize();
  expect(bytes).toBeLessThanOrEqual(15 * 1024);
  // What is not used is left out.
  expect(modules).not.toContain('/api/review/pools');
});
