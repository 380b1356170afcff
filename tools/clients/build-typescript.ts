import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import { OperatorError } from '../operator-error.ts';
import { type ClientDocument, operationsModule } from './document.ts';

/** Generates the client's operations from the document, and compiles the package, as ES modules and as CommonJS. */
export async function buildTypescriptClient(document: ClientDocument, folder: string, root: string): Promise<void> {
  const tsc = join(root, 'node_modules/typescript-native/bin/tsc');
  const generated = join(folder, 'src/generated');
  await createClient({
    input: document as never,
    output: { path: generated, clean: true, module: { extension: '.ts' } },
    plugins: ['@hey-api/client-fetch', '@hey-api/typescript', { name: '@hey-api/sdk', client: false }],
    logs: { level: 'silent' },
  });
  writeFileSync(join(generated, 'operations.ts'), operationsModule(document));
  const dist = join(folder, 'dist');
  rmSync(dist, { recursive: true, force: true });
  for (const [project, name, type] of [
    ['tsconfig.json', 'esm', 'module'],
    ['tsconfig.cjs.json', 'cjs', 'commonjs'],
  ] as const) {
    const { status } = spawnSync(process.execPath, [tsc, '-p', join(folder, project)], { stdio: 'inherit' });
    if (status !== 0) throw new OperatorError(`${folder} does not compile.`);
    mkdirSync(join(dist, name), { recursive: true });
    writeFileSync(join(dist, name, 'package.json'), JSON.stringify({ type }));
  }
}
