import { gzipSync } from 'node:zlib';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Ten operations that a page of releases needs. */
const TEN = [
  'listProjects',
  'listEnvironments',
  'listReleaseCandidates',
  'saveReleaseCandidate',
  'getReleaseCandidate',
  'listReleases',
  'startFlowRun',
  'listFlowRuns',
  'listApprovals',
  'grantApproval',
];

/** What a page loads that uses ten operations, iterators, roles and changes: bytes packed by gzip, and the text. */
export async function bundledSize(): Promise<{ bytes: number; modules: string }> {
  const names = ['createClient', 'items', 'changes', 'can', ...TEN].join(', ');
  const { outputFiles } = await build({
    stdin: { contents: `import { ${names} } from '@quayside/client';\nconsole.log(${names});`, resolveDir: ROOT },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    logLevel: 'error',
  });
  const text = outputFiles[0]?.text ?? '';
  return { bytes: gzipSync(text, { level: 9 }).byteLength, modules: text };
}
