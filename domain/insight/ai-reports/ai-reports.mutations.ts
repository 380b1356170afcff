import type { ProjectFacts } from '../../projects/projects/projects.queries.ts';
import { DomainError, invalidField } from '../../kernel/shared/errors.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { type EndedStatus, knownNames, REPORT_BYTES_MAX, type ReportKey, scopeProblem } from './ai-report-rules.ts';
import { AiReport, type TokenUsage } from './ai-reports.entities.ts';
import { foundNames, lockReportKey, removeOldKeys, removeOldReports } from './ai-reports.queries.ts';

/** How far the clock of whoever publishes may be ahead. */
const AHEAD_MAX_MS = 10 * 60_000;

/** A report that something else than this service made. */
export interface PublishedReport extends ReportKey {
  commitSha: string;
  analyzedAt: Date;
  status: EndedStatus;
  markdown: string;
  provider?: string | undefined;
  model?: string | undefined;
  executionTimeMs?: number | undefined;
  taskExecutionId?: string | undefined;
  usage?: TokenUsage | undefined;
}

/** Refuses a scope that the project does not have: `invalid_request`. */
export async function checkScope(tx: Tx, project: ProjectFacts, key: ReportKey): Promise<void> {
  const known = knownNames(project.configuration, await foundNames(tx, project.id));
  const problem = scopeProblem(key, known);
  if (problem !== undefined) throw invalidField('scopeName', problem);
}

/** Adds a report; the oldest of its key go. Throws `invalid_request` and `payload_too_large`. */
export async function publishReport(tx: Tx, project: ProjectFacts, report: PublishedReport): Promise<void> {
  await checkScope(tx, project, report);
  const { branch, scope, scopeName, commitSha, analyzedAt, status } = report;
  if (analyzedAt.getTime() > tx.now.getTime() + AHEAD_MAX_MS)
    throw invalidField('analyzedAt', 'must not be more than 10 minutes ahead');
  if (Buffer.byteLength(report.markdown) > REPORT_BYTES_MAX)
    throw new DomainError('payload_too_large', 'The text of a report has at most 1 MB');
  await lockReportKey(tx, project.id, report);
  const made = tx.em.create(AiReport, {
    id: newId(),
    tenantId: tx.tenantId,
    projectId: project.id,
    branch,
    scope,
    scopeName,
    commitSha: commitSha.toLowerCase(),
    analyzedAt,
    status,
    markdown: report.markdown === '' ? null : report.markdown,
    provider: report.provider ?? null,
    model: report.model ?? null,
    executionTimeMs: report.executionTimeMs ?? null,
    taskExecutionId: report.taskExecutionId ?? null,
    usage: report.usage ?? null,
    requestedBy: tx.actor.email,
  });
  await recordReport(tx, project, made, 'ai_report.published');
}

/** Writes a report that has ended: the oldest go, and it is audited, and announced unless it is one of these. */
export async function recordReport(
  tx: Tx,
  project: Pick<ProjectFacts, 'id' | 'identifier'>,
  report: AiReport,
  action: 'ai_report.published' | 'ai_report.completed' | 'ai_report.failed',
): Promise<void> {
  const { id, branch, scope, scopeName, commitSha, status, analyzedAt, provider, model, error } = report;
  await tx.em.flush();
  const removed = [...(await removeOldReports(tx, project.id, report)), ...(await removeOldKeys(tx, project.id))];
  const isKept = !removed.includes(id);
  tx.audit({
    source: 'project',
    action,
    entityType: 'ai_report',
    entityId: id,
    repositoryIdentifier: project.identifier,
    summary: `The report on ${scope} ${scopeName} of branch ${branch} ${status}${isKept ? '' : ', and is older than those that are kept'}`,
    after: { branch, scope, scopeName, commitSha, status, provider, model, error },
  });
  if (!isKept) return;
  emitEvent(tx, 'ai_report.completed', {
    id,
    repositoryIdentifier: project.identifier,
    scope,
    scopeName,
    branch,
    commitSha,
    status,
    analyzedAt: analyzedAt.toISOString(),
  });
}
