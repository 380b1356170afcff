import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/** Bundles the command line to one file that needs nothing but Node, and its server for models, which few need, to another. */
export async function buildCli(folder: string): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  const outdir = join(folder, 'dist');
  await build({
    entryPoints: { quayside: join(folder, 'src/main.ts'), mcp: join(folder, 'src/mcp.ts') },
    outdir,
    bundle: true,
    minifySyntax: true,
    minifyWhitespace: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    external: ['./mcp.js'],
    define: { VERSION: JSON.stringify(version) },
    // What packages of CommonJS require of Node.
    banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
    logLevel: 'warning',
  });
  chmodSync(join(outdir, 'quayside.js'), 0o755);
}
