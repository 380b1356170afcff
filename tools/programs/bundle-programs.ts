/**
 * Bundles the programs of the service: `node tools/programs/bundle-programs.ts FOLDER`, the folder as `bundlesFolder`
 * names it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type OutputFile, type Plugin } from 'esbuild';
import { withBuildLock } from '../clients/build-lock.ts';
import { isHeld } from './hold.ts';
import { lineTable } from './line-table.ts';
import { PROGRAMS, bundlesFolder } from './programs.ts';

/** Others than today's that stay, whoever runs them. */
const OTHERS_KEPT = 3;

/**
 * Packages that stay outside: those of native code, and Temporal's, whose threads load their own files. A package that keeps
 * something for the whole process, as that of telemetry does, must not be there twice. Playwright reads files beside its
 * own, and sends functions to pages, where what `keepNames` adds to them does not exist.
 */
const OUTSIDE = ['@temporalio/*', '@opentelemetry/*', '@node-rs/*', 'pg-native', 'playwright-core'];

/** What packages of CommonJS require of Node. */
const REQUIRE =
  "import { createRequire as requireBeside } from 'node:module';\nconst require = requireBeside(import.meta.url);";

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const STACKS = fileURLToPath(new URL('stacks.ts', import.meta.url));

const OWN = /\.ts$/;

/** Modules look beside their sources for what they read or start. */
const whereSourcesAre: Plugin = {
  name: 'where-sources-are',
  setup(bundler) {
    bundler.onLoad({ filter: OWN }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta')) return undefined;
      return { contents: text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)), loader: 'ts' };
    });
  },
};

async function bundle(folder: string): Promise<OutputFile[]> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: Object.fromEntries(PROGRAMS.map((program) => [program.replace(/\.ts$/, ''), program])),
    inject: [STACKS],
    define: { BUNDLES: JSON.stringify(`${pathToFileURL(folder).href}/`) },
    outdir: folder,
    write: false,
    bundle: true,
    splitting: true,
    // Entities are discovered, and errors told apart, by the names of their classes.
    keepNames: true,
    external: OUTSIDE,
    banner: { js: REQUIRE },
    format: 'esm',
    platform: 'node',
    target: 'node22',
    sourcemap: 'external',
    sourcesContent: false,
    plugins: [whereSourcesAre],
    // The error says it all.
    logLevel: 'silent',
  });
  return outputFiles;
}

/** What is written of an output: a bundle as it is, of its source map what tells lines. */
function writtenOf({ path, text }: OutputFile): { path: string; text: string } {
  if (!path.endsWith('.map')) return { path, text };
  const { sources, mappings } = JSON.parse(text) as { sources: string[]; mappings: string };
  const addresses = sources.map((source) => new URL(source, pathToFileURL(path)).href);
  return {
    path: path.replace(/\.map$/, '.lines'),
    text: JSON.stringify(lineTable({ sources: addresses, mappings })),
  };
}

/** Drops what nobody runs and was not made last, and what was left half made. */
function dropOld(kept: string, current: string): void {
  for (const name of readdirSync(kept).filter((each) => each.endsWith('.draft')))
    rmSync(join(kept, name), { recursive: true, force: true });
  const madeAt = (name: string) => statSync(join(kept, name)).mtimeMs;
  const others = readdirSync(kept).filter((name) => /^[0-9a-f]{16}$/.test(name) && name !== current);
  for (const name of others.toSorted((a, b) => madeAt(b) - madeAt(a)).slice(OTHERS_KEPT))
    if (!isHeld(join(kept, name))) rmSync(join(kept, name), { recursive: true, force: true });
}

async function main(folder: string): Promise<void> {
  const kept = dirname(folder);
  await withBuildLock(`${kept}.lock`, async () => {
    if (existsSync(folder)) return;
    const draft = `${folder}.draft`;
    for (const { path, text } of (await bundle(folder)).map(writtenOf)) {
      const file = join(draft, relative(folder, path));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    if (bundlesFolder() !== folder) throw new Error('The sources have changed meanwhile.');
    renameSync(draft, folder);
    dropOld(kept, basename(folder));
  });
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Name the folder.');
try {
  await main(folder);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
