import { fullCommitId } from '../../code/git/commits.queries.ts';
import { projectInRequest, type ProjectFacts } from '../../projects/projects/projects.queries.ts';
import { invalidField } from '../../kernel/shared/errors.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import {
  type BranchOf,
  compareNextAgain,
  deleteAnalysisOf,
  findAnalysis,
  insertAnalysis,
  pruneAnalyses,
} from './analyses.queries.ts';
import { openRefresh } from './jobs/analysis-jobs.queries.ts';
import { discardLogs, type LogStore, type UploadedLog, uploadLog } from './sarif/log-upload.ts';

/** Clocks of pipelines differ. */
const AHEAD_MAX_MS = 10 * 60_000;

/** What was analysed, and when. */
export interface AnalysisFacts {
  branch: string;
  commitId: string;
  analyzedAt: Date;
  durationMs: number | null;
}

/** What is known besides of an analysis that the service ran. */
interface OwnRun {
  /** Id of the run; the analysis has the same id, so that storing it again is noticed. */
  runId: string;
  engine: string | null;
  triggeredBy: string;
  isScheduled: boolean;
  /** Results that the commit has are replaced. */
  isForced: boolean;
}

/** `ignored`: the commit has results already. */
export interface StoredAnalysis {
  outcome: 'stored' | 'ignored';
  analysisId: string;
  branch: string;
  project: ProjectFacts;
}

/**
 * Stores the results that a pipeline publishes: a JSON object that holds the log as `sarif`.
 * @param factsOf reads the other members of it.
 */
export async function publishAnalysis(
  store: LogStore,
  body: AsyncIterable<Uint8Array>,
  factsOf: (members: unknown) => AnalysisFacts & { repositoryIdentifier: string },
): Promise<StoredAnalysis> {
  const log = await uploadLog(store, body, { isInBody: true });
  return attached(store, log, async (tx) => {
    const { repositoryIdentifier, ...facts } = factsOf(log.around);
    const project = await projectInRequest(tx, repositoryIdentifier);
    if (facts.analyzedAt.getTime() > tx.now.getTime() + AHEAD_MAX_MS)
      throw invalidField('analyzedAt', 'must not be more than 10 minutes ahead');
    const commitId = await fullCommitId(tx, project.id, facts.commitId);
    const refreshedAt = await openRefresh(tx, { projectId: project.id, branch: facts.branch }, commitId);
    return attachAnalysis(tx, project, log, {
      ...facts,
      commitId,
      id: newId(),
      engine: null,
      triggeredBy: tx.actor.email,
      isScheduled: false,
      replacesUntil: refreshedAt ?? null,
    });
  });
}

/** Stores the results of an analysis that the service ran itself. @param sarif the bytes of a SARIF log. */
export async function storeAnalysis(
  store: LogStore,
  sarif: AsyncIterable<Uint8Array>,
  { project, runId, isForced, ...facts }: AnalysisFacts & OwnRun & { project: ProjectFacts },
): Promise<StoredAnalysis> {
  const log = await uploadLog(store, sarif, { isInBody: false });
  return attached(store, log, (tx) =>
    attachAnalysis(tx, project, log, { ...facts, id: runId, replacesUntil: isForced ? tx.now.toISOString() : null }),
  );
}

type Attached = StoredAnalysis & { surplus: string[] };

/** Logs that have become surplus are removed after the transaction, and the new one when it was for nothing. */
async function attached(
  store: LogStore,
  { bodyId }: UploadedLog,
  attach: (tx: Tx) => Promise<Attached>,
): Promise<StoredAnalysis> {
  let done: Attached | undefined;
  try {
    done = await store.tx(attach);
  } finally {
    await discardLogs(store, done?.surplus ?? [bodyId]);
  }
  const { surplus: _, ...stored } = done;
  return stored;
}

interface NewAnalysis extends AnalysisFacts, Pick<OwnRun, 'triggeredBy' | 'isScheduled' | 'engine'> {
  id: string;
  /** Results of the commit that were stored before this moment are replaced; null: none are. */
  replacesUntil: string | null;
}

async function attachAnalysis(
  tx: Tx,
  project: ProjectFacts,
  { bodyId, summary }: UploadedLog,
  { id, replacesUntil, ...facts }: NewAnalysis,
): Promise<Attached> {
  const { branch, commitId, analyzedAt, triggeredBy } = facts;
  const of: BranchOf = { projectId: project.id, branch };
  const surplus =
    replacesUntil === null ? [] : await deleteAnalysisOf(tx, of, commitId, { storedBefore: replacesUntil, except: id });
  if (!(await insertAnalysis(tx, { id, projectId: project.id, ...facts, summary, bodyId }))) {
    const existing = await findAnalysis(tx, of, commitId);
    return { outcome: 'ignored', analysisId: existing?.id ?? id, branch, project, surplus: [bodyId] };
  }
  await compareNextAgain(tx, of, { id, analyzedAt });
  surplus.push(...(await pruneAnalyses(tx, of)));
  tx.audit({
    source: 'project',
    action: 'code_analysis.published',
    entityType: 'code_analysis',
    entityId: id,
    repositoryIdentifier: project.identifier,
    summary: `${triggeredBy} published the analysis of ${commitId.slice(0, 12)} on ${branch}: ${summary.totalIssues} issues`,
    after: { branch, commitId, analyzedAt, totalIssues: summary.totalIssues, issuesByLevel: summary.issuesByLevel },
  });
  return { outcome: 'stored', analysisId: id, branch, project, surplus };
}
