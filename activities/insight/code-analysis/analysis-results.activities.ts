import { compareAnalysis } from '../../../domain/insight/code-analysis/comparisons/comparisons.mutations.ts';
import {
  type ComparedAnalysis,
  dueStatuses,
  nextComparison,
  noteIndexed,
  noteStatus,
} from '../../../domain/insight/code-analysis/comparisons/comparisons.queries.ts';
import { Fingerprints } from '../../../domain/insight/code-analysis/sarif/fingerprints.ts';
import { statusOfGate, STATUS_CONTEXT } from '../../../domain/insight/code-analysis/comparisons/gate-rules.ts';
import { deleteIssues, type IndexedIssue, insertIssues } from '../../../domain/insight/code-analysis/issues.queries.ts';
import { runsOf } from '../../../domain/insight/code-analysis/sarif/stored-log.ts';
import { type Issue, issuesOf } from '../../../domain/insight/code-analysis/summary-rules.ts';
import { type ProjectFacts, projectById } from '../../../domain/projects/projects/projects.queries.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { inSteps } from '../../../domain/kernel/queues/in-steps.ts';
import type { UnitOfWork } from '../../../domain/unit-of-work.ts';
import type {
  AnalysisResultsInput,
  ComparisonReport,
} from '../../../workflows/insight/code-analysis/analysis-results.contract.ts';
import type { Deps } from '../../deps.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import { findLineHashes } from './line-hashes.ts';

/** Issues of one transaction. */
const CHUNK = 5_000;
const PAUSE_EACH = 500;
/** Hosts cut or refuse longer ones. */
const DESCRIPTION_MAX = 140;

export type AnalysisResultActivities = ReturnType<typeof createAnalysisResultActivities>;

export const createAnalysisResultActivities = (deps: Deps) => ({
  /** Compares the analyses of a branch that are due with those before them, the earliest first. */
  compareResults: ({ projectId, branch, ...tenant }: AnalysisResultsInput): Promise<ComparisonReport> =>
    withHeartbeat(async (signal) => {
      const tx = deps.actingAs(systemActor(tenant, 'code-analysis'));
      const of = { projectId, branch };
      let compared = 0;
      for (;;) {
        signal.throwIfAborted();
        const project = await tx((work) => projectById(work, projectId));
        const due = project && (await tx((work) => nextComparison(work, of)));
        if (!due) break;
        for (const analysis of [due.base, due.head])
          if (analysis && analysis.indexedAt === null) await index(deps, { tx, project, signal }, analysis);
        await tx((work) => compareAnalysis(work, project, due));
        compared++;
      }
      return { compared, statuses: (await tx((work) => dueStatuses(work, of))).length };
    }),

  /** Writes commit statuses that are due to the git host. Answers how many it did not take. */
  writeResultStatuses: ({
    projectId,
    branch,
    repositoryIdentifier,
    ...tenant
  }: AnalysisResultsInput): Promise<number> =>
    withHeartbeat(async () => {
      const tx = deps.actingAs(systemActor(tenant, 'code-analysis'));
      const project = await tx((work) => projectById(work, projectId));
      if (!project) return 0;
      const purpose = `commit statuses of ${repositoryIdentifier}`;
      const host = await deps.git.findHost({ ...tenant, projectId, platform: project.platform, purpose });
      let refused = 0;
      for (const { id, commitId, gate, summary } of await tx((work) => dueStatuses(work, { projectId, branch }))) {
        if (!gate) continue;
        const { state, description } = statusOfGate(gate, summary);
        const status = { repository: repositoryIdentifier, commitId, context: STATUS_CONTEXT, state };
        const answer = await host?.writeStatus({ ...status, description: description.slice(0, DESCRIPTION_MAX) });
        const error = answer ? (answer.isOk ? null : answer.reason) : 'no credential for the git host is kept';
        // What may pass is tried again by the sweep.
        const isDue = answer?.isOk === false && answer.isTransient;
        if (error !== null) refused++;
        await tx((work) => noteStatus(work, id, { error, isDue }));
      }
      return refused;
    }),
});

/** Writes the issues of an analysis, so that it can be compared. */
async function index(
  deps: Deps,
  { tx, project, signal }: { tx: UnitOfWork; project: ProjectFacts; signal: AbortSignal },
  analysis: ComparedAnalysis,
): Promise<void> {
  const { id, bodyId, commitId } = analysis;
  const fingerprints = new Fingerprints();
  let position = 0;
  await tx((work) => deleteIssues(work, id));
  for await (const { run, results } of runsOf(deps.objects, { tenantId: project.tenantId, bodyId })) {
    const issues = await inSteps(listed(issuesOf(run, results, project.identifier)));
    const lineHashOf = await findLineHashes(deps, { tx, project, commitId, signal }, issues);
    const rows: IndexedIssue[] = [];
    for (const issue of issues) {
      position++;
      if (!issue.isSuppressed) rows.push({ ...issue, ...fingerprints.of(issue, lineHashOf(issue)), position });
    }
    for (let at = 0; at < rows.length; at += CHUNK) {
      signal.throwIfAborted();
      await tx((work) => insertIssues(work, analysis, rows.slice(at, at + CHUNK)));
    }
  }
  await tx((work) => noteIndexed(work, id));
}

/** All issues, with a pause after each few hundred, so that a log made to be slow holds up no heartbeat. */
function* listed(issues: Iterable<Issue>): Generator<undefined, Issue[]> {
  const all: Issue[] = [];
  for (const issue of issues) if (all.push(issue) % PAUSE_EACH === 0) yield;
  return all;
}
