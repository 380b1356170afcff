import type { Commands } from '../../delivery/flows/programs/commands-file.ts';
import type { WorkItemRef } from '../../delivery/flows/work-item-ref.schemas.ts';
import { parsePayload } from '../../delivery/flows/parse-payload.ts';
import { type AcceptedRun, acceptNewRun } from '../../delivery/flows/new-runs.mutations.ts';
import { type ProjectFacts, projectInRequest } from '../../projects/projects/projects.queries.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import { DomainError, invalidField } from '../../kernel/shared/errors.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx, UnitOfWork } from '../../unit-of-work.ts';
import { TEXT_MAX, textLength } from '../work-items/embedding-rules.ts';
import { tokenFailed } from '../work-items/tracker-failure-rules.ts';
import { trackerTarget } from '../work-items/tracker-location-rules.ts';
import { locationOfItems } from '../work-items/work-items.queries.ts';
import type {
  CreatedWorkItem,
  FindWorkTracker,
  TrackerFailure,
  TrackerPlatform,
} from '../work-items/work-tracker.port.ts';
import { REF_TYPES } from './item-reference-rules.ts';
import { assertRequestable } from './payload-types.ts';
import { beginCreation, completeCreation, failCreation, linkRun } from './request-creation.mutations.ts';

export interface RequestScope {
  actor: Actor;
  tx: UnitOfWork;
  /** Notes that nothing was created, so that the caller may ask again with the same `Idempotency-Key`. */
  undo: UnitOfWork;
  requestId: string;
  now: () => Date;
  findTracker: FindWorkTracker;
  commands: Commands;
}

export interface WorkItemOrder {
  projectIdentifier: string;
  /** The summary of the flow type when absent. */
  title?: string | undefined;
  body: string;
  payload: Record<string, unknown>;
  labels: string[];
  /** The caller's at the provider; it goes there and nowhere else. */
  authToken: string;
  triggerFlow: boolean;
}

export interface OrderedWorkItem {
  /** Id of the request. */
  id: string;
  item: CreatedWorkItem;
  run: AcceptedRun | undefined;
}

/**
 * Creates a work item with a payload for automation, in the caller's name, and the request that is made by it; with
 * `triggerFlow` also the run that executes it. The request is known before the provider is asked. What the provider may
 * have done although its answer was lost stays `creating`, until a callback names it or the sweeper gives it up.
 * Throws `invalid_request`, what a run is refused with, and what the provider failed with.
 */
export async function createWithPayload(scope: RequestScope, order: WorkItemOrder): Promise<OrderedWorkItem> {
  const { tx, undo, actor, requestId, now, findTracker } = scope;
  const { payload, triggerFlow, authToken } = order;
  assertRequestable(payload.id);
  const { type, payload: parsed } = parsePayload(payload, 'payload/');
  const project = await tx((work) => projectInRequest(work, order.projectIdentifier, 'projectIdentifier'));
  const { repositoryIdentifier } = parsed;
  const carrier =
    repositoryIdentifier === undefined
      ? project
      : await tx((work) => projectInRequest(work, repositoryIdentifier, 'payload/repositoryIdentifier'));
  const target = trackerTarget(project);
  assertBodyFits(target.platform, order);
  if (triggerFlow) await rehearseRun(scope, project, target.platform, payload);
  const title = order.title ?? type.summary;
  const { domain, releaseName } = parsed;
  const tracker = await findTracker(target, {
    actor,
    requestId,
    purpose: `address for a work item of ${project.identifier}`,
    authToken,
  });
  const id = await tx((work) =>
    beginCreation(work, project, {
      projectId: project.id,
      platform: target.platform,
      title,
      taskType: type.id,
      releaseCandidate: domain === undefined || releaseName === undefined ? null : `${domain}:${releaseName}`,
      repositoryIdentifier: carrier.identifier,
      createdBy: actor.email,
    }),
  );
  const created = await tracker.create({
    title,
    body: order.body,
    labels: order.labels,
    payload: { ...payload, requestId: id },
  });
  if (!created.isOk) {
    if (!created.mayBeDone) await undo((work) => failCreation(work, project, id, created.message));
    throw creationFailed(created, now());
  }
  const item = created.value;
  if (!triggerFlow) {
    await tx((work) => completeCreation(work, project, id, { ...item, platform: target.platform }));
    return { id, item, run: undefined };
  }
  const run = await completeAndRun(scope, project, target.platform, { id, item, payload, carrier });
  return { id, item, run };
}

/** Throws `invalid_request` for a body that is too long for its tracker with the payload. */
function assertBodyFits(platform: TrackerPlatform, { body, payload }: WorkItemOrder): void {
  const length = textLength(platform, body, { ...payload, requestId: newId() });
  const max = TEXT_MAX[platform];
  if (length > max)
    throw invalidField('body', `is ${length} characters long with the payload, and ${platform} takes at most ${max}`);
}

/** Who may not see a project is told that it is not there: that, too, is the token's fault. */
const creationFailed = (failure: TrackerFailure, now: Date): DomainError =>
  failure.kind === 'not_found' ? invalidField('authToken', failure.message) : tokenFailed('Work items', failure, now);

/** The run was accepted in rehearsal; where it is refused now, the work item remains and says so. */
async function completeAndRun(
  scope: RequestScope,
  project: ProjectFacts,
  platform: TrackerPlatform,
  {
    id,
    item,
    payload,
    carrier,
  }: { id: string; item: CreatedWorkItem; payload: Record<string, unknown>; carrier: ProjectFacts },
): Promise<AcceptedRun | undefined> {
  try {
    return await scope.tx(async (work) => {
      await completeCreation(work, project, id, { ...item, platform });
      const workItemRef = await refOf(work, project, platform, item);
      const runId = newId();
      // Before it is accepted, so that it reports to this request also where it is of another project.
      await linkRun(work, id, { runId, projectId: carrier.id });
      return acceptForItem(work, scope, project, { id: runId, payload, workItemRef });
    });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const message = `No run was started: ${error.message}`;
    await scope.tx((work) => completeCreation(work, project, id, { ...item, platform }, { message }));
    return undefined;
  }
}

const acceptForItem = (
  tx: Tx,
  { requestId, commands }: RequestScope,
  { identifier }: ProjectFacts,
  { id, payload, workItemRef }: { id?: string; payload: Record<string, unknown>; workItemRef: WorkItemRef },
): Promise<AcceptedRun> =>
  acceptNewRun(
    tx,
    { repositoryIdentifier: identifier, ...payload, workItemRef },
    { requestId, commands, ...(id !== undefined && { id }) },
  );

class Rehearsed extends Error {}

/** Throws what a run is refused with, and leaves none: a refused payload is to create no work item. */
async function rehearseRun(
  scope: RequestScope,
  project: ProjectFacts,
  platform: TrackerPlatform,
  payload: Record<string, unknown>,
): Promise<void> {
  try {
    await scope.tx(async (work) => {
      await acceptForItem(work, scope, project, {
        payload,
        workItemRef: await refOf(work, project, platform, { key: '0', url: undefined }),
      });
      throw new Rehearsed();
    });
  } catch (error) {
    if (!(error instanceof Rehearsed)) throw error;
  }
}

async function refOf(
  tx: Tx,
  project: ProjectFacts,
  platform: TrackerPlatform,
  { key, url }: { key: string; url: string | undefined },
): Promise<WorkItemRef> {
  const location = await locationOfItems(tx, platform, project);
  return { type: REF_TYPES[platform], key, ...(url !== undefined && { url }), ...location };
}
