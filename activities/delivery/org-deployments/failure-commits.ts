import type { DeploymentProblem } from '../../../domain/delivery/org-deployments/deployment-outcome-rules.ts';
import { FailedPaths } from '../../../domain/delivery/org-deployments/failure-path-rules.ts';
import type { StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { remoteOfRun } from '../source/remote-of-run.ts';
import type { OrgWork } from '../org-steps/org-work.ts';
import type { BuildIntent } from './plan-deployment.ts';

/** So many failures are linked to commits, within so long. */
const LINKED_MAX = 20;
const LINKING_MS = 60_000;

/** Says of failures in which file of the repository they are, and which commit changed it last, as far as that is known. */
export async function withCommits(
  { deps, tenant, run }: Omit<OrgWork, 'org'>,
  { intent }: StepRow,
  problems: readonly DeploymentProblem[],
  signal: AbortSignal,
): Promise<DeploymentProblem[]> {
  const { commitSha: sha } = intent as unknown as Partial<BuildIntent>;
  const inFiles = problems.flatMap((problem) => (problem.file === null ? [] : [{ ...problem, file: problem.file }]));
  const wanted = inFiles.slice(0, LINKED_MAX);
  if (wanted.length === 0 || sha === undefined) return [...problems];
  const { mirrors } = deps.git;
  const linked = new Map<string, Pick<DeploymentProblem, 'path' | 'commit'>>();
  const until = AbortSignal.timeout(LINKING_MS);
  try {
    const place = await remoteOfRun(deps, tenant, run);
    if (!place.isOk) return [...problems];
    const { mirror, remote } = place.value;
    const paths = new FailedPaths(wanted);
    await mirrors.files(mirror, sha, ({ path }) => paths.look(path));
    for (const problem of wanted) {
      const key = keyOf(problem);
      const found = paths.of(problem);
      if (!found || linked.has(key) || until.aborted) continue;
      const { path, hasLines } = found;
      const line = hasLines ? problem.line : null;
      linked.set(key, { path, commit: null });
      const commit = await mirrors.lastChange(mirror, remote, { sha, path, line }, signal);
      if (commit) linked.set(key, { path, commit });
    }
  } catch (error) {
    // A repository that is away changes nothing of how the deployment ended.
    signal.throwIfAborted();
    deps.log.warn({ err: error, runId: run.id }, 'failures were not linked to commits');
  }
  return problems.map((problem) => ({ ...problem, ...linked.get(keyOf(problem)) }));
}

const keyOf = ({ file, line, subject }: DeploymentProblem): string => `${file}\0${line}\0${subject}`;
