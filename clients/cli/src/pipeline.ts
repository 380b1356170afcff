import { execFileSync } from 'node:child_process';

type Env = NodeJS.ProcessEnv;

/** The run of a pipeline, as the host of git tells its jobs. */
export interface PipelineRun {
  /** Without the attempt: a job that is run again is of the same run. */
  run: string;
  /** With run, attempt and job. */
  attempt: readonly string[];
}

/** The pipeline that this is a job of; undefined: none that is known. */
export function pipelineRun(env: Env): PipelineRun | undefined {
  const of = (run: string | undefined, ...more: (string | undefined)[]) =>
    run ? { run, attempt: [run, ...more.map((each) => each ?? '')] } : undefined;
  return (
    of(env.GITHUB_RUN_ID, env.GITHUB_RUN_ATTEMPT, env.GITHUB_JOB) ??
    of(env.BUILD_BUILDID, env.SYSTEM_JOBATTEMPT, env.SYSTEM_JOBID) ??
    of(env.CI_PIPELINE_ID, env.CI_JOB_ID)
  );
}

/** The repository by what a pipeline says, else by the remote of the folder, if one is given; undefined: neither does. */
export function detectedRepository(env: Env, folder?: string): string | undefined {
  const named = env.QUAYSIDE_REPOSITORY || env.GITHUB_REPOSITORY || azureRepository(env) || env.CI_PROJECT_PATH;
  return named || (folder === undefined ? undefined : remoteOf(folder));
}

/** Repositories that the host keeps elsewhere have their whole name already. */
function azureRepository({ SYSTEM_TEAMPROJECT, BUILD_REPOSITORY_NAME, SYSTEM_COLLECTIONURI = '' }: Env) {
  if (!SYSTEM_TEAMPROJECT || !BUILD_REPOSITORY_NAME) return undefined;
  if (BUILD_REPOSITORY_NAME.includes('/')) return BUILD_REPOSITORY_NAME;
  const [, organization] =
    /^https:\/\/dev\.azure\.com\/([^/]+)/.exec(SYSTEM_COLLECTIONURI) ??
    /^https:\/\/([^./]+)\.visualstudio\.com/.exec(SYSTEM_COLLECTIONURI) ??
    [];
  return [organization, SYSTEM_TEAMPROJECT, BUILD_REPOSITORY_NAME].filter(Boolean).join('/');
}

function remoteOf(folder: string): string | undefined {
  const remotes = git(folder, 'remote')?.split('\n').filter(Boolean) ?? [];
  const name = remotes.includes('origin') ? 'origin' : remotes.length === 1 ? remotes[0] : undefined;
  const url = name === undefined ? undefined : git(folder, 'remote', 'get-url', name);
  return url === undefined ? undefined : repositoryOfRemote(url);
}

/** `owner/repo`, or `organization/project/repository`, of the address of a remote; undefined for a path of this machine. */
export function repositoryOfRemote(remote: string): string | undefined {
  const scp = /^[\w.-]+@[\w.-]+:(?!\/\/)(.+)$/.exec(remote)?.[1];
  const path = scp ?? (/^(https?|ssh|git):\/\//.test(remote) ? new URL(remote).pathname : undefined);
  const parts = (path ?? '')
    .replace(/\.git\/?$/, '')
    .split('/')
    .filter((part) => part !== '' && part !== '_git')
    .map((part) => decodeURIComponent(part));
  if (/^v\d$/.test(parts[0] ?? '') && parts.length === 4) parts.shift();
  return parts.length > 1 ? parts.join('/') : undefined;
}

/** The commit that is built; undefined: nothing says. */
export const builtCommit = (env: Env, folder: string): string | undefined =>
  env.GITHUB_SHA || env.BUILD_SOURCEVERSION || env.CI_COMMIT_SHA || git(folder, 'rev-parse', 'HEAD');

/** The branch that is built; undefined: nothing says, or it is a tag. */
export function builtBranch(env: Env, folder: string): string | undefined {
  const ref = env.GITHUB_HEAD_REF || env.GITHUB_REF || env.BUILD_SOURCEBRANCH || env.CI_COMMIT_BRANCH;
  if (ref) return ref.startsWith('refs/tags/') ? undefined : ref.replace(/^refs\/heads\//, '');
  const branch = git(folder, 'rev-parse', '--abbrev-ref', 'HEAD');
  return branch === 'HEAD' ? undefined : branch;
}

function git(folder: string, ...args: string[]): string | undefined {
  try {
    const said = execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return said.trim() || undefined;
  } catch {
    return undefined;
  }
}
