import { LockMode } from '@mikro-orm/core';
import type { CommitGraphCache } from '../../code/git/graph/commit-graph-cache.ts';
import { endLostCalls } from '../language-models/ai-calls.queries.ts';
import { projectById, type ProjectFacts } from '../../projects/projects/projects.queries.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import { type EndedStatus, REPORT_BYTES_MAX, type ReportKey } from './ai-report-rules.ts';
import { AiReport } from './ai-reports.entities.ts';
import { checkScope, recordReport } from './ai-reports.mutations.ts';
import { lockReportKey } from './ai-reports.queries.ts';
import { gatherFacts } from './facts.ts';
import { readFindings, storable } from './findings.ts';
import { withValidCitations } from './findings-rules.ts';
import { callsOfReport, generationUnderWay, reportsMadeBy } from './generation.queries.ts';
import { PROMPT_VERSION, type ReportTitle } from './prompt-rules.ts';
import { renderReport } from './rendering-rules.ts';

/** The `provider` of reports that have facts alone. */
export const LOCAL = 'local';

export interface WantedReport extends ReportKey {
  provider: string;
  /** Null: without a model. */
  model: string | null;
  /** Makes a report even if there is one of the same facts. */
  isForced: boolean;
}

export interface RequestedReport {
  id: string;
  /** There is one of the same facts, prompt and model, or one is being made. */
  status: 'queued' | 'under_way' | 'cached';
}

/**
 * Asks for a report. One of the key that is being made is joined; without `isForced`, one of the same facts, prompt and
 * model is the answer. Throws `invalid_request`.
 */
export async function requestReport(
  tx: Tx,
  commitGraphs: CommitGraphCache,
  project: ProjectFacts,
  { isForced, ...wanted }: WantedReport,
): Promise<RequestedReport> {
  await checkScope(tx, project, wanted);
  await lockReportKey(tx, project.id, wanted);
  const underWay = await generationUnderWay(tx, project.id, wanted);
  if (underWay) return { id: underWay.id, status: 'under_way' };
  const made = isForced ? undefined : await sameReport(tx, commitGraphs, project, wanted);
  if (made !== undefined) return { id: made, status: 'cached' };
  const id = newId();
  const { branch, scope, scopeName, provider, model } = wanted;
  tx.em.create(AiReport, {
    id,
    tenantId: tx.tenantId,
    projectId: project.id,
    branch,
    scope,
    scopeName,
    status: 'queued',
    analyzedAt: tx.now,
    provider,
    model,
    taskExecutionId: id,
    requestedBy: tx.actor.email,
    promptVersion: PROMPT_VERSION,
  });
  await tx.em.flush();
  tx.audit({
    source: 'project',
    action: 'ai_report.requested',
    entityType: 'ai_report',
    entityId: id,
    repositoryIdentifier: project.identifier,
    summary: `${tx.actor.email} asked for a report on ${scope} ${scopeName} of branch ${branch}`,
    after: { branch, scope, scopeName, provider, model },
  });
  return { id, status: 'queued' };
}

/** The id of a report that another one would equal. */
async function sameReport(
  tx: Tx,
  commitGraphs: CommitGraphCache,
  project: ProjectFacts,
  { provider, model, ...key }: Omit<WantedReport, 'isForced'>,
): Promise<string | undefined> {
  const made = await reportsMadeBy(tx, project.id, key, { provider, model, promptVersion: PROMPT_VERSION });
  if (made.length === 0) return undefined;
  const { digest } = await gatherFacts(tx, await commitGraphs(tx, project.id), project, key);
  return made.find(({ factsDigest }) => factsDigest === digest)?.id;
}

/** A generation that has begun. */
export interface BegunReport {
  title: ReportTitle;
  projectId: string;
  provider: string;
  model: string | null;
  factCount: number;
}

/** Begins a generation, or begins it again: its facts are stored. Undefined for one that has ended, or is gone. */
export async function beginReport(
  tx: Tx,
  commitGraphs: CommitGraphCache,
  id: string,
): Promise<BegunReport | undefined> {
  const found = await openReport(tx, id);
  if (!found) return undefined;
  const { report, project } = found;
  const title = titleOf(project, report);
  const { digest, commitSha, ...facts } = await gatherFacts(tx, await commitGraphs(tx, project.id), project, title);
  const factCount = facts.facts.length;
  const cleared = { answer: null, findings: null, droppedClaims: null };
  Object.assign(report, { status: 'running', facts, factCount, factsDigest: digest, commitSha, ...cleared });
  await tx.em.flush();
  return { title, projectId: project.id, provider: report.provider ?? LOCAL, model: report.model ?? null, factCount };
}

/** A generation that has not ended, with its project. Nobody else ends or changes it until the transaction ends. */
export async function openReport(tx: Tx, id: string): Promise<{ report: AiReport; project: ProjectFacts } | undefined> {
  const report = await tx.em.findOne(AiReport, { tenantId: tx.tenantId, id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!report || report.status === 'completed' || report.status === 'failed') return undefined;
  const project = await projectById(tx, report.projectId);
  return project && { report, project };
}

/** What a report is about. */
export const titleOf = (
  { identifier }: Pick<ProjectFacts, 'identifier'>,
  { branch, scope, scopeName }: ReportKey,
): ReportTitle => ({ repositoryIdentifier: identifier, branch, scope, scopeName });

/** Keeps what the model answered. */
export async function storeAnswer(tx: Tx, id: string, answer: string): Promise<void> {
  const found = await openReport(tx, id);
  if (!found) return;
  found.report.answer = storable(answer.slice(0, REPORT_BYTES_MAX));
  await tx.em.flush();
}

/** Reads the answer: claims without a valid citation are dropped and counted. Whether it can be used. */
export async function checkAnswer(tx: Tx, id: string): Promise<boolean> {
  const found = await openReport(tx, id);
  if (!found) return false;
  const { report } = found;
  const read = readFindings(report.answer ?? '');
  if ('problems' in read) return false;
  const { findings, dropped } = withValidCitations(read.findings, report.factCount ?? 0);
  Object.assign(report, { findings, droppedClaims: dropped });
  await tx.em.flush();
  return true;
}

/** Ends a generation with the report. */
export const completeReport = (tx: Tx, id: string): Promise<void> => endReport(tx, id, 'completed', null);

const CANCELLED = 'cancelled: The generation was cancelled';

/** Ends a generation without one. @param error why, for people. */
export const failReport = (tx: Tx, id: string, error: string): Promise<void> => endReport(tx, id, 'failed', error);

/**
 * Asks that the generation of a key ends. One that has not begun ends at once; the workflow ends another. Answers its id and
 * whether it has ended; throws `not_found` when nothing is being generated.
 */
export async function cancelReport(
  tx: Tx,
  project: ProjectFacts,
  key: ReportKey,
): Promise<{ id: string; hasEnded: boolean }> {
  const { branch, scope, scopeName } = key;
  const underWay = await generationUnderWay(tx, project.id, key);
  const found = underWay && (await openReport(tx, underWay.id));
  if (!found) throw notFound(`A generation of a report on ${scope} ${scopeName} of branch ${branch}`);
  const { id, status } = found.report;
  tx.audit({
    source: 'project',
    action: 'ai_report.cancel_requested',
    entityType: 'ai_report',
    entityId: id,
    repositoryIdentifier: project.identifier,
    summary: `${tx.actor.email} cancelled the report on ${scope} ${scopeName} of branch ${branch}`,
  });
  const hasEnded = status === 'queued';
  if (hasEnded) await failReport(tx, id, CANCELLED);
  return { id, hasEnded };
}

async function endReport(tx: Tx, id: string, status: EndedStatus, error: string | null): Promise<void> {
  const found = await openReport(tx, id);
  if (!found) return;
  const { report, project } = found;
  await lockReportKey(tx, project.id, report);
  const markdown = status === 'completed' ? markdownOf(project, report) : null;
  await endLostCalls(tx, { integrationId: null, taskExecutionId: id });
  const calls = await callsOfReport(tx, id);
  Object.assign(report, {
    status,
    error,
    markdown,
    analyzedAt: tx.now,
    executionTimeMs: Math.max(0, tx.now.getTime() - report.createdAt.getTime()),
    usage: calls?.usage ?? null,
    cost: calls?.cost ?? null,
    facts: null,
    answer: null,
    findings: null,
  });
  await recordReport(tx, project, report, status === 'completed' ? 'ai_report.completed' : 'ai_report.failed');
}

function markdownOf(project: ProjectFacts, report: AiReport): string {
  const { facts, findings, provider, model, droppedClaims, commitSha } = report;
  if (!facts) throw new Error('a report ends before its facts were gathered');
  const by = { provider: provider ?? LOCAL, model: model ?? '', dropped: droppedClaims ?? 0 };
  const assessment = findings ? { findings, ...by } : null;
  return renderReport({ title: titleOf(project, report), commitSha: commitSha ?? null, facts, assessment });
}
