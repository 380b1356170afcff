import { existsSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DemoClient } from './client.ts';

const BATCH = 200;
const STORE = 'packages';

interface Manifest {
  name: string;
  version: string;
}
interface Found {
  key: string;
  value: Record<string, unknown>;
}

/** Questions that whoever looks after a catalog of packages asks. */
const QUESTIONS: { text: string; filters?: object[]; sort?: object[]; limit?: number; fields?: string[] }[] = [
  { text: 'under the MIT licence', filters: [{ field: 'license', operator: 'eq', value: 'MIT' }] },
  {
    text: 'under a licence other than MIT, ISC, Apache-2.0, BSD',
    filters: [
      {
        field: 'license',
        operator: 'nin',
        value: ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD'],
      },
    ],
    fields: ['license'],
  },
  {
    text: 'that run a script after they are installed',
    filters: [{ field: 'scripts.postinstall', operator: 'regex', value: '.' }],
    fields: ['scripts.postinstall'],
  },
  {
    text: 'that need Node 20 or later',
    filters: [{ field: 'engines.node', operator: 'regex', value: '^(>=|\\^) ?2[0-9]' }],
    sort: [{ field: 'engines.node', direction: 'desc' }],
    fields: ['engines.node'],
  },
  {
    text: 'whose first listed file is dist',
    filters: [{ field: 'files.0', operator: 'in', value: ['dist', 'dist/', '/dist'] }],
  },
];

/** Every manifest of a package under `node_modules`, by name and version. */
async function manifests(project: string): Promise<Map<string, Manifest>> {
  const found = new Map<string, Manifest>();
  for await (const file of glob('**/package.json', { cwd: join(project, 'node_modules') })) {
    try {
      const manifest = JSON.parse(await readFile(join(project, 'node_modules', file), 'utf8')) as Manifest;
      if (manifest.name && manifest.version) found.set(`${manifest.name}@${manifest.version}`, manifest);
    } catch {
      // A fixture that is meant to be broken is no manifest.
    }
  }
  return found;
}

/** Publishes the manifests of a project's installed packages to the document store and asks it about them. */
export async function demoDocuments(
  api: DemoClient,
  project: string,
  catalog: string,
  say: (text: string) => void,
): Promise<void> {
  if (!existsSync(join(project, 'node_modules'))) {
    say(`${project} has no node_modules: no catalog of packages`);
    return;
  }
  const documents = [...(await manifests(project))].map(([key, value]) => ({ collection: catalog, key, value }));
  const startedAt = performance.now();
  const refusals: unknown[] = [];
  for (let at = 0; at < documents.length; at += BATCH) {
    const { results } = await api.post(`/api/doc-store/bulk?store=${STORE}`, {
      documents: documents.slice(at, at + BATCH),
    });
    refusals.push(...(results as { error?: unknown }[]).flatMap(({ error }) => error ?? []));
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  say(
    `catalog ${catalog}: ${documents.length - refusals.length} manifests of packages published in ${seconds.toFixed(2)} s, ${refusals.length} refused`,
  );
  for (const { text, limit = 1_000, ...query } of QUESTIONS) {
    const askedAt = performance.now();
    const found = (await api.post(`/api/doc-store/collections/query?store=${STORE}`, {
      pathPattern: catalog,
      fields: ['name'],
      limit,
      ...query,
    })) as unknown as Found[];
    const ms = (performance.now() - askedAt).toFixed(1);
    const examples = found
      .slice(0, 3)
      .map(({ key, value }) => (query.fields ? `${key} ${JSON.stringify(value)}` : key));
    say(
      `  ${String(found.length).padStart(4)} ${text} (${ms} ms)${examples.length > 0 ? `: ${examples.join(', ')}${found.length > 3 ? ', …' : ''}` : ''}`,
    );
  }
}
