import type { Commands } from '../../../delivery/flows/programs/commands-file.ts';
import { ANALYZE } from '../../../delivery/flows/flow-types.ts';
import { type AcceptedRun, acceptNewRun } from '../../../delivery/flows/new-runs.mutations.ts';
import type { ProjectFacts } from '../../../projects/projects/projects.queries.ts';
import { invalidField, unknownName } from '../../../kernel/shared/errors.ts';
import { matchesPattern } from '../../../kernel/text/pattern-rules.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { decideJob } from './analysis-job-rules.ts';
import { findAnalysis } from '../analyses.queries.ts';
import {
  branchHead,
  branchHeads,
  hasBranches,
  keepSchedule,
  latestJob,
  removeSchedule,
  takeTurn,
} from './analysis-jobs.queries.ts';

/** Branches that one request analyses. */
export const BRANCHES_MAX = 50;

export interface AnalysisRequest {
  branch: string;
  /** In full, in lower case; absent: the head of the branch. */
  commitId?: string | undefined;
  /** Analyses again what failed lately, or has results: they are replaced. */
  isForced: boolean;
}

interface RequestContext {
  requestId?: string | undefined;
  /** The operator's: the request is refused at once when nothing executes it. */
  commands?: Commands;
  isScheduled?: boolean;
}

/** `error`: an analysis failed within the last 15 minutes, or there is no such branch. */
export type RequestedAnalysis =
  | { status: 'pending'; jobId: string; message: string; run?: AcceptedRun }
  | { status: 'error'; jobId: string | null; message: string };

/**
 * Has a commit analysed by a run of the flow `analyze`, unless one analyses it; the branch is analysed each night from
 * then on. The caller has looked for results, and launches `run` after the commit.
 */
export async function requestAnalysis(
  tx: Tx,
  project: ProjectFacts,
  { branch, commitId, isForced }: AnalysisRequest,
  { requestId, commands, isScheduled = false }: RequestContext = {},
): Promise<RequestedAnalysis> {
  const of = { projectId: project.id, branch };
  const head = await branchHead(tx, of);
  // Before the first fetch nothing is known of branches: the run finds the head.
  if (head === undefined && (await hasBranches(tx, project.id)))
    return { status: 'error', jobId: null, message: `The repository has no branch ${branch}` };
  await keepSchedule(tx, of);
  const sha = commitId?.toLowerCase() ?? head ?? null;
  const sought = { commitId: sha, isHead: sha === (head ?? null) };
  const decision = decideJob(await latestJob(tx, of, sought), { isForced, now: tx.now });
  switch (decision.kind) {
    case 'running':
      return { status: 'pending', jobId: decision.jobId, message: 'The commit is being analysed' };
    case 'failed':
      return { status: 'error', jobId: decision.jobId, message: decision.message };
    case 'start': {
      const { analysisPipeline } = project.configuration;
      const payload = {
        id: ANALYZE,
        repositoryIdentifier: project.identifier,
        branch,
        // What is forced fetches the repository and finds the head by itself.
        ...(sha !== null && !(isForced && commitId === undefined) && { commitId: sha }),
        ...(isForced && { force: true }),
        ...(analysisPipeline && { pipeline: { ...analysisPipeline, ref: branch } }),
      };
      const run = await acceptNewRun(tx, payload, {
        requestId,
        prefix: '',
        ...(commands && { commands }),
        ...(isScheduled && { isScheduled, triggeredBy: 'cron' }),
      });
      return { status: 'pending', jobId: run.runId, message: 'An analysis of the commit was started', run };
    }
  }
}

/**
 * Has the heads of branches analysed, also where results exist: of the one that is named, or of those that the project's
 * configuration lists. Throws `invalid_request` for a branch that the repository does not have.
 */
export async function refreshAnalyses(
  tx: Tx,
  project: ProjectFacts,
  branch: string | undefined,
  context: RequestContext,
): Promise<{ branch: string; jobId: string; run?: AcceptedRun }[]> {
  const branches = branch === undefined ? await configuredBranches(tx, project) : [branch];
  const jobs: { branch: string; jobId: string; run?: AcceptedRun }[] = [];
  for (const each of branches) {
    const requested = await requestAnalysis(tx, project, { branch: each, isForced: true }, context);
    if (requested.status === 'error') throw invalidField('branch', requested.message);
    jobs.push({ branch: each, jobId: requested.jobId, ...(requested.run && { run: requested.run }) });
  }
  return jobs;
}

/** Names and patterns are taken, as elsewhere; what they do not match is passed over. */
async function configuredBranches(tx: Tx, { id, defaultBranch, configuration }: ProjectFacts): Promise<string[]> {
  const patterns = configuration.branches?.length ? configuration.branches : [defaultBranch];
  const known = (await branchHeads(tx, id)).map(({ name }) => name);
  if (known.length === 0) return patterns.filter((pattern) => !pattern.includes('*')).slice(0, BRANCHES_MAX);
  const matching = known.filter((name) => patterns.some((pattern) => matchesPattern(pattern, name)));
  if (matching.length === 0) throw unknownName('Branch', patterns.join(', '), known);
  return matching.slice(0, BRANCHES_MAX);
}

/**
 * The turn of a branch in a night: its head is analysed unless it has results; a branch that is gone is analysed no more.
 * Undefined when nothing is to be launched.
 */
export async function analyzeAtNight(
  tx: Tx,
  project: ProjectFacts,
  branch: string,
  { night, commands }: { night: string; commands: Commands },
): Promise<AcceptedRun | undefined> {
  const of = { projectId: project.id, branch };
  if (!(await takeTurn(tx, of, night))) return undefined;
  const head = await branchHead(tx, of);
  if (head === undefined) {
    if (await hasBranches(tx, project.id)) await removeSchedule(tx, of);
    return undefined;
  }
  if (await findAnalysis(tx, of, head)) return undefined;
  const requested = await requestAnalysis(tx, project, { branch, isForced: false }, { commands, isScheduled: true });
  return requested.status === 'pending' ? requested.run : undefined;
}
