import { LockMode } from '@mikro-orm/core';
import type { Project } from '../../projects/projects/projects.entities.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { type BuildReport, type BuildState, eventOfTransition, isNewer, overallState } from './build-state-rules.ts';
import { BuildStatus } from './builds.entities.ts';
import { insertStatus } from './builds.queries.ts';
import type { StatusEvent } from './host-events-rules.ts';

/**
 * Records what a host reports of a build, unless it reported something later before. Subscribers learn of it when the
 * state of all builds of the commit together changes.
 */
export async function recordStatus(tx: Tx, project: Project, event: StatusEvent): Promise<void> {
  const { commitId, context, buildUrl, buildNumber, isPr, prNumber } = event;
  await insertStatus(tx, { projectId: project.id, commitId }, event.date);
  const status = await tx.em.findOneOrFail(
    BuildStatus,
    { tenantId: tx.tenantId, projectId: project.id, commitSha: commitId },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  const reports = status.workflowStatus;
  const report: BuildReport = { state: event.state, at: event.at, url: buildUrl };
  if (!isNewer(report, Object.hasOwn(reports, context) ? reports[context] : undefined)) return;
  const before = Object.keys(reports).length === 0 ? null : status.state;
  status.workflowStatus = { ...reports, [context]: report };
  status.state = overallState(status.workflowStatus);
  status.branch ??= event.branch;
  status.commitMessage ??= event.message;
  status.commitAuthor ??= event.author;
  if (event.date !== null) status.commitDate = new Date(event.date);
  status.ciInfo = {
    service: project.platform,
    name: context,
    buildUrl,
    buildNumber,
    job: context,
    branch: event.branch ?? status.branch,
    isPr,
    prNumber,
  };
  status.lastUpdatedAt = tx.now;
  await tx.em.flush();
  announceTransition(tx, project, event, { before, after: status.state, branch: status.branch });
}

interface Transition {
  /** Null: no build was reported before. */
  before: BuildState | null;
  after: BuildState;
  branch: string | null;
}

function announceTransition(
  tx: Tx,
  project: Project,
  { commitId, buildUrl, buildNumber, at }: StatusEvent,
  { before, after, branch }: Transition,
): void {
  const event = eventOfTransition(before, after);
  if (!event) return;
  const isStart = event === 'build.started';
  emitEvent(tx, event, {
    repositoryIdentifier: project.identifier,
    branch: branch ?? project.defaultBranch,
    commitSha: commitId,
    status: isStart ? 'running' : event === 'build.completed' ? 'completed' : 'failed',
    buildUrl,
    buildNumber,
    ...(isStart
      ? { startedAt: at }
      : { endedAt: at, ...(event === 'build.failed' && { error: `The build was reported as ${after}` }) }),
  });
  tx.audit({
    source: 'project',
    action: event,
    entityType: 'build',
    entityId: commitId,
    repositoryIdentifier: project.identifier,
    summary: `${project.platform} reported builds of ${commitId.slice(0, 12)} as ${after}`,
    before: { state: before },
    after: { state: after, buildUrl, buildNumber },
  });
}
