import { remoteOf } from '../../code/git/fetched-commits.ts';
import { lineHashes } from '../../../domain/insight/code-analysis/sarif/line-hash-rules.ts';
import type { Issue } from '../../../domain/insight/code-analysis/summary-rules.ts';
import type { ProjectFacts } from '../../../domain/projects/projects/projects.queries.ts';
import type { UnitOfWork } from '../../../domain/unit-of-work.ts';
import type { Deps } from '../../deps.ts';

/** A file that is larger is generated, or no text. */
const FILE_MAX_BYTES = 1024 * 1024;
/** Each may be a call to the git host. With more, no file is read, so that runs of the same code are treated alike. */
const FILES_MAX = 500;

/** The hash of the line of an issue; null when it is not known. */
type LineHashOf = (issue: Issue) => string | null;

const needsHash = ({ lineHash, path, isSuppressed }: Issue): boolean =>
  lineHash === null && path !== '' && !isSuppressed;

/** Finds the hashes that a tool did not give, by the files at that commit, where the mirror has it. */
export async function findLineHashes(
  { git: { mirrors }, encryption }: Deps,
  { tx, project, commitId, signal }: { tx: UnitOfWork; project: ProjectFacts; commitId: string; signal: AbortSignal },
  issues: readonly Issue[],
): Promise<LineHashOf> {
  const given: LineHashOf = ({ lineHash }) => lineHash;
  const byPath = Map.groupBy(issues.filter(needsHash), ({ path }) => path);
  const { id: projectId, tenantId, identifier: repositoryIdentifier, remoteUrl, platform } = project;
  if (byPath.size === 0 || byPath.size > FILES_MAX || !remoteUrl) return given;
  const mirror = { tenantId, projectId };
  if (!(await mirrors.present(mirror, [commitId]).catch(() => new Set<string>())).has(commitId)) return given;
  const remote = await remoteOf(tx, encryption, { projectId, platform, remoteUrl, repositoryIdentifier });
  const found = new Map<Issue, string>();
  for (const [path, ofFile] of byPath) {
    signal.throwIfAborted();
    const text = await mirrors.file(mirror, remote, commitId, path, FILE_MAX_BYTES);
    const hashes = text === undefined ? [] : lineHashes(text);
    for (const issue of ofFile) {
      const hash = hashes[(issue.startLine ?? 1) - 1];
      if (hash !== undefined) found.set(issue, hash);
    }
  }
  return (issue) => given(issue) ?? found.get(issue) ?? null;
}
