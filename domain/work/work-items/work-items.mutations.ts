import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { RunState } from '../../delivery/flows/run-states.queries.ts';
import { openRunsOfItem } from '../work-item-requests/runs-of-items.queries.ts';
import { noteItemState } from '../work-item-requests/work-item-requests.mutations.ts';
import { findProject, type ProjectFacts } from '../../projects/projects/projects.queries.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import { DomainError, invalidField, notFound } from '../../kernel/shared/errors.ts';
import type { UnitOfWork } from '../../unit-of-work.ts';
import { trackerFailed } from './tracker-failure-rules.ts';
import { trackerTarget } from './tracker-location-rules.ts';
import { isWorkItemId } from './work-item-rules.ts';
import { assigneeAtTracker, locationOfItems } from './work-items.queries.ts';
import type {
  ClosedWorkItem,
  FindWorkTracker,
  TrackerAnswer,
  TrackerPlatform,
  WorkItem,
  WorkItemChange,
  WorkItemClosing,
  WorkItemFilter,
  WorkItemSummary,
  WorkTracker,
} from './work-tracker.port.ts';

/** One request about work items. The tracker is called between units of work, never inside one. */
export interface WorkItemScope {
  actor: Actor;
  requestId: string;
  tx: UnitOfWork;
  reads: Reads;
  now: () => Date;
  findTracker: FindWorkTracker;
}

/** A work item as a request names it. */
export interface WorkItemKey {
  projectIdentifier: string;
  id: string;
}
interface HostWorkItem {
  platform: TrackerPlatform;
  id: string;
  projectIdentifier: string | undefined;
}

/** Throws `invalid_request` for one that is not registered. */
async function projectOf({ reads }: WorkItemScope, identifier: string): Promise<ProjectFacts> {
  const project = await findProject(reads, identifier);
  if (!project) throw invalidField('projectIdentifier', `The repository ${identifier} is not registered as a project`);
  return project;
}

const accessOf = ({ actor, requestId }: WorkItemScope, purpose: string) => ({ actor, requestId, purpose });

/** The value of an answer; throws its failure. */
function valueOf<Value>({ now }: WorkItemScope, what: string, answer: TrackerAnswer<Value>): Value {
  if (answer.isOk) return answer.value;
  throw trackerFailed(what, answer, now());
}

/**
 * A work item of a project, as its tracker has it, with its open runs. Throws `not_found`, also for an id that the tracker cannot have;
 * `invalid_request`, `upstream_error`, `upstream_timeout`.
 */
export async function readWorkItem(
  scope: WorkItemScope,
  { projectIdentifier, id }: WorkItemKey,
): Promise<WorkItem & { openRuns: RunState[] }> {
  const project = await projectOf(scope, projectIdentifier);
  const target = trackerTarget(project);
  const { platform } = target;
  const what = `Work item ${id}`;
  if (!isWorkItemId(target.platform, id)) throw notFound(what);
  const purpose = `reading work item ${id} of ${projectIdentifier}`;
  const tracker = await scope.findTracker(target, accessOf(scope, purpose));
  const item = valueOf(scope, what, await tracker.fetch(id));
  const key = { projectId: project.id, platform, workItemKey: item.key };
  return {
    ...item,
    openRuns: await openRunsOfItem(scope.reads, key, await locationOfItems(scope.reads, platform, project)),
  };
}

/** The work items of a project's tracker, newest change first. Throws `invalid_request`, `upstream_error`, `upstream_timeout`. */
export async function listWorkItems(
  scope: WorkItemScope,
  { projectIdentifier, ...given }: WorkItemFilter & { projectIdentifier: string },
): Promise<WorkItemSummary[]> {
  const target = trackerTarget(await projectOf(scope, projectIdentifier));
  const assignee =
    given.assignee === undefined
      ? undefined
      : await assigneeAtTracker(scope.reads, target.platform, given.assignee, scope.actor);
  if (assignee === null) return [];
  const tracker = await scope.findTracker(target, accessOf(scope, `listing work items of ${projectIdentifier}`));
  return valueOf(scope, 'The list of work items', await tracker.list({ ...given, assignee }));
}

interface FoundItem extends WorkItemKey {
  project: ProjectFacts;
  tracker: WorkTracker;
}

/** Throws `not_implemented` for tracker-a, `not_found` for an id that the host cannot have, `invalid_request`. */
async function foundItem(
  scope: WorkItemScope,
  { platform, id, projectIdentifier }: HostWorkItem,
  doing: string,
): Promise<FoundItem> {
  if (platform === 'tracker-a')
    throw new DomainError('not_implemented', `${doing} work items of tracker-a is not implemented`);
  if (projectIdentifier === undefined) throw invalidField('projectIdentifier', `is required for ${platform}`);
  const project = await projectOf(scope, projectIdentifier);
  const target = trackerTarget(project, platform);
  if (!isWorkItemId(platform, id)) throw notFound(`Work item ${id}`);
  const purpose = `${doing.toLowerCase()} work item ${id} of ${projectIdentifier}`;
  return { project, projectIdentifier, id, tracker: await scope.findTracker(target, accessOf(scope, purpose)) };
}

/**
 * Changes a work item at its host. Throws `not_implemented` for tracker-a, `not_found`, `invalid_request`,
 * `version_conflict` where somebody else changes it meanwhile, `upstream_error`, `upstream_timeout`.
 */
export async function changeWorkItem(
  scope: WorkItemScope,
  item: HostWorkItem,
  change: WorkItemChange,
): Promise<WorkItem> {
  const { tracker, project, id } = await foundItem(scope, item, 'Changing');
  const what = `Work item ${id}`;
  if (Object.values(change).every((member) => member === undefined))
    return valueOf(scope, what, await tracker.fetch(id));
  const after = valueOf(scope, what, await tracker.update(id, change));
  const { body, ...shown } = change;
  const changed = { ...shown, ...(body !== undefined && { bodyLength: body.length }), status: after.status };
  await note(scope, item, project, {
    step: 'updated',
    after: changed,
    isClosed: after.isClosed,
    updatedAt: after.updatedAt,
  });
  return after;
}

/**
 * Closes a work item at its host; one that is closed stays as it is. Throws like `changeWorkItem`.
 */
export async function closeWorkItem(scope: WorkItemScope, item: HostWorkItem, closing: WorkItemClosing): Promise<void> {
  const { platform } = item;
  const { reason } = closing;
  if (platform === 'host-a' && reason !== undefined && !HOST_A_REASONS.includes(reason))
    throw invalidField('reason', `must be one of ${HOST_A_REASONS.join(', ')} on host-a`);
  const { tracker, project, id } = await foundItem(scope, item, 'Closing');
  const closed = valueOf(scope, `Work item ${id}`, await tracker.close(id, closing));
  const after = { reason, hasComment: closing.comment !== undefined };
  await note(scope, item, project, { ...closed, ...(closed.isChanged && { step: 'closed', after }) });
}

const HOST_A_REASONS = ['completed', 'not_planned'];

interface NotedChange extends Pick<ClosedWorkItem, 'isClosed' | 'updatedAt'> {
  /** Absent: nothing was changed. */
  step?: 'updated' | 'closed';
  after?: Record<string, unknown>;
}

/** Writes to the audit trail what was done, and to the requests for automation in the work item whether it is closed. */
const note = (
  { tx }: WorkItemScope,
  { platform, id }: HostWorkItem,
  project: ProjectFacts,
  { step, after, isClosed, updatedAt }: NotedChange,
): Promise<void> =>
  tx(async (work) => {
    if (step)
      work.audit({
        source: 'integration',
        action: `work_item.${step}`,
        entityType: 'work_item',
        entityId: `${platform}:${id}`,
        repositoryIdentifier: project.identifier,
        summary: `Work item ${id} of ${project.identifier} ${step} at ${platform}`,
        after,
      });
    // By the tracker's clock, as its hooks are.
    const at = updatedAt === null ? work.now : new Date(updatedAt);
    await noteItemState(work, project, { projectId: project.id, platform, workItemKey: id, isClosed, at });
  });
