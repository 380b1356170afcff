/**
 * Bundles the workflows for workers to start from: `node activities/bundle-workflows.ts [folder]`, with `--traced` for
 * workers that export traces.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleWorkflowCode } from '@temporalio/worker';
import { bundleFile, bundleFolder } from './workflow-bundle.ts';

/** Older bundles stay, for workers of other versions that share the folder. */
const OTHERS_KEPT = 6;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { traced: { type: 'boolean', default: false } },
});
const [folder = bundleFolder(process.env)] = positionals;
const isTraced = values.traced;
const file = bundleFile({ folder, isTraced });
const kept = dirname(file);
// A folder that cannot be written is told before the work, not after it.
mkdirSync(kept, { recursive: true });
const { resolve } = createRequire(import.meta.url);
const workflowsPath = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));
const { code } = await bundleWorkflowCode({
  workflowsPath,
  webpackConfigHook(config) {
    config.module?.rules?.push({ test: workflowsPath, use: fileURLToPath(import.meta.resolve('./lazy-exports.ts')) });
    return config;
  },
  workflowInterceptorModules: isTraced
    ? [resolve('@temporalio/interceptors-opentelemetry/lib/workflow-interceptors')]
    : [],
  // It would report its progress; errors are thrown.
  logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
});

const draft = `${file}.${process.pid}`;
writeFileSync(draft, code);
renameSync(draft, file);

const madeAt = (name: string) => statSync(join(kept, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
const others = readdirSync(kept).filter(
  (name) => /^workflows-[0-9a-f]{16}(-traced)?\.js$/.test(name) && name !== basename(file),
);
for (const name of others.toSorted((a, b) => madeAt(b) - madeAt(a)).slice(OTHERS_KEPT)) {
  rmSync(join(kept, name), { force: true });
}
