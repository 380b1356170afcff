import { findApprovalOfRun } from '../approvals/approvals.queries.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { missingCandidate, nameOf, type Obstacle } from '../promotion/promotable-rules.ts';
import { promotionState, type PromotionState, waitingForWindows } from '../promotion/promotion.ts';
import { DomainError, invalidField } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { heldError, type Hold, waitingFor } from '../release-candidates/holds/hold-rules.ts';
import { requiredEnvironments } from '../release-candidates/finalization-rules.ts';
import { findCandidate } from '../release-candidates/release-candidates.queries.ts';
import { isVerifying } from '../verification/verification-rules.ts';
import { openChildren, releaseEnvironments } from './children/child-runs.queries.ts';
import { type RunContext, findRun } from './flow-runs.queries.ts';
import type { RunOutcome } from './flow-runs.mutations.ts';
import type { RunPayload } from './flow-payloads.ts';
import type { RunPlace } from './new-runs.queries.ts';
import { isPromotion } from './programs/executor-rules.ts';
import { type FlowType, flowType } from './flow-types.ts';
import type { executorHere } from './programs/commands-file.ts';
import { isFinal } from './run-status-rules.ts';

/** How a run ends that may not wait for a window. */
const outsideWindow = (reason: string): RunOutcome => ({
  status: 'failed',
  code: 'outside_window',
  error: `${reason}; the payload says to fail instead of waiting (failOutsideWindow)`,
});

/** What a run finds before it asks for an approval, while it waits, and right before its work begins. */
export interface Passage {
  /** It ends: it can never go, or may not wait. */
  refusal?: RunOutcome;
  /** It is to wait. */
  waiting?: Pick<NonNullable<PromotionState['waiting']>, 'nextAt' | 'reason'>;
  /** It waits for a hold of its release. */
  isHeld?: boolean;
}

const UNHINDERED = { obstacle: undefined, hold: undefined, holds: [], waiting: undefined, demands: [] };

/** What the environments of a run say to it: to its release where it takes one, else to any change of their orgs. */
async function stateOf(
  tx: Tx,
  { id, taskType, projectId, domain, releaseName }: RunContext,
  environmentIds: readonly string[],
): Promise<Omit<PromotionState, 'waitingForOthers'>> {
  const type = flowType(taskType);
  if (!type || !isPromotion(type))
    return { ...UNHINDERED, waiting: await waitingForWindows(tx, environmentIds, tx.now) };
  if (projectId === null || domain === null || releaseName === null) return UNHINDERED;
  const approval = await findApprovalOfRun(tx, id);
  const approvedDigest = approval?.status === 'approved' ? approval.contentDigest : null;
  const { isRollback } = type;
  return promotionState(tx, { projectId, domain, releaseName, environmentIds, approvedDigest, isRollback }, tx.now);
}

/**
 * Whether a run that changes orgs may go on, as everything is now. With an override it waits for nothing but a hold, which
 * is lifted instead, and `failOutsideWindow` is about windows: a run whose release is held waits in any case. A candidate
 * that was aborted, is on another branch or has other content than was approved never goes, nor does the child of a run
 * that waits for a deployment, or for its verification, which none of the other children brings about any more.
 */
export async function passageOf(tx: Tx, run: RunContext, environmentIds: readonly string[]): Promise<Passage> {
  const { payload, override } = run;
  const { obstacle, hold, holds, waiting, demands } = await stateOf(tx, run, environmentIds);
  if (obstacle) return { refusal: { status: 'failed', error: obstacle.detail } };
  const forGood = run.parentId === null ? undefined : await lastingHold(tx, run.parentId, run.id, { holds, demands });
  if (forGood)
    return { refusal: { status: 'failed', error: `${waitingFor(nameOf(run), forGood).reason}, ${NOT_COMING}` } };
  if (hold) return { isHeld: true, waiting: waitingFor(nameOf(run), hold) };
  if (!waiting || override !== null) return {};
  const lost = run.parentId === null ? [] : await neverDeployed(tx, run.parentId, run.id, waiting.missing);
  if (lost.length > 0) return { refusal: { status: 'failed', error: `${waiting.reason}, ${NOT_COMING}` } };
  return payload.failOutsideWindow === true ? { refusal: outsideWindow(waiting.reason) } : { waiting };
}

/**
 * The hold of a verification that will not be lifted by another one: nothing is verified there now, and no other open child
 * of the run deploys there.
 */
async function lastingHold(
  reads: Reads,
  parentId: string,
  ownId: string,
  { holds, demands }: Pick<PromotionState, 'holds' | 'demands'>,
): Promise<Hold | undefined> {
  const isOpen = (name: string) => demands.some(({ verifications }) => isVerifying(verifications?.get(name)));
  const names = holds.flatMap(({ environment }) => environment?.name ?? []).filter((name) => !isOpen(name));
  const lost = await neverDeployed(reads, parentId, ownId, names);
  return holds.find(({ environment }) => environment !== null && lost.includes(environment.name));
}

const NOT_COMING = 'and no other part of the same run deploys it there any more';

/** The ones of some environments to which no other open child of a run takes the release. */
async function neverDeployed(
  reads: Reads,
  parentId: string,
  ownId: string,
  environmentNames: readonly string[],
): Promise<string[]> {
  if (environmentNames.length === 0) return [];
  const others = (await openChildren(reads, parentId)).filter(({ runId }) => runId !== ownId);
  return environmentNames.filter((name) => !others.some(({ environmentName }) => environmentName === name));
}

const asError = ({ code, member, detail }: Obstacle, prefix: string): DomainError =>
  new DomainError(code, detail, { fields: [{ pointer: prefix + member, detail }] });

/** A request for a run that takes a release to environments. */
export interface PromotionRequest {
  type: Pick<FlowType, 'isRollback'>;
  projectId: string;
  domain: string;
  /** Name of the release; of a rollback that of the release which it goes back to. */
  releaseName: string;
  payload: RunPayload;
  environmentIds: readonly string[];
  /** It is a part of a run that is open, and waits for what must be deployed before. */
  isChild: boolean;
}

/**
 * Throws for a run that cannot go: `not_found` for its release candidate, `invalid_transition` for one that was aborted
 * or is on another branch, `held`, and, unless it has an override, where the release must be deployed elsewhere first.
 * @param prefix of the payload's fields in the request: `payload/`.
 */
export async function assertPromotable(tx: Tx, request: PromotionRequest, prefix: string): Promise<void> {
  const { type, payload, isChild, ...release } = request;
  const promotion = { ...release, approvedDigest: null, isRollback: type.isRollback };
  const { obstacle, hold, waitingForOthers: unmet } = await promotionState(tx, promotion, tx.now);
  if (obstacle) throw asError(obstacle, prefix);
  if (hold && !isChild) throw heldError(nameOf(request), hold, `${prefix}releaseName`);
  if (!unmet || isChild || payload.override !== undefined) return;
  throw new DomainError('invalid_transition', unmet.reason, {
    fields: [{ pointer: `${prefix}environmentName`, detail: unmet.reason }],
    members: { nextWindowAt: unmet.nextAt === null ? null : new Date(unmet.nextAt).toISOString() },
  });
}

/** Throws `held` for a run whose release a hold keeps from its environments. */
export async function assertNotHeld(
  tx: Tx,
  {
    type: { isRollback },
    payload: { domain = '' },
    releaseName = '',
    place: { projectId },
  }: Pick<PromotedRun, 'type' | 'payload' | 'releaseName' | 'place'>,
  environmentIds: readonly string[],
  prefix: string,
): Promise<void> {
  const promotion = { projectId, domain, releaseName, environmentIds, approvedDigest: null, isRollback };
  const { hold } = await promotionState(tx, promotion, tx.now);
  if (hold) throw heldError(nameOf({ domain, releaseName }), hold, `${prefix}releaseName`);
}

/** An environment to which a release goes in its turn. */
export type Stage = Awaited<ReturnType<typeof releaseEnvironments>>[number];

/**
 * The environments to which a release is deployed stage by stage: those that are named, else the active release
 * environments which take its branch, as finalization demands them.
 */
export async function stagesOf(
  reads: Reads,
  { projectId, defaultBranch }: { projectId: string; defaultBranch: string },
  { domain = '', releaseName = '', ...payload }: RunPayload,
): Promise<Stage[]> {
  const names = payload.environmentNames as string[] | undefined;
  const environments = await releaseEnvironments(reads, projectId, names);
  const candidate = await findCandidate(reads, projectId, { domain, releaseName });
  if (names || !candidate) return environments;
  return requiredEnvironments(environments, candidate.branch ?? defaultBranch);
}

/**
 * Throws for a release that cannot go to one of the environments that it is requested for, as `assertPromotable` does;
 * `invalid_request` for names that are no active release environments. What must be deployed before may come in the
 * same request, unless in a later stage.
 */
export async function assertStagesPromotable(
  tx: Tx,
  { projectId, defaultBranch }: { projectId: string; defaultBranch: string },
  stages: readonly Stage[],
  payload: RunPayload,
  prefix: string,
): Promise<void> {
  const { domain = '', releaseName = '' } = payload;
  const names = (payload.environmentNames as string[] | undefined) ?? [];
  const unknown = names.findIndex((name) => !stages.some((stage) => stage.name === name));
  if (unknown >= 0)
    throw invalidField(
      `${prefix}environmentNames/${unknown}`,
      `${names[unknown]} is not an active environment of category release of the project`,
    );
  for (const { id, orchestrationOrder } of stages) {
    const promotion = { projectId, domain, releaseName, environmentIds: [id], approvedDigest: null };
    const { obstacle, holds, waitingForOthers: unmet } = await promotionState(tx, promotion, tx.now);
    if (obstacle)
      throw asError(
        { ...obstacle, member: obstacle.member === 'releaseName' ? obstacle.member : 'environmentNames' },
        prefix,
      );
    const inTime = stages.filter((each) => each.id !== id && each.orchestrationOrder <= orchestrationOrder);
    // It may be verified where it is deployed again first.
    const hold = holds.find(({ environment }) => !inTime.some(({ name }) => name === environment?.name));
    if (hold) throw heldError(nameOf({ domain, releaseName }), hold, `${prefix}releaseName`);
    if (unmet?.nextAt !== null || payload.override !== undefined) continue;
    if (unmet.missing.every((before) => inTime.some((each) => each.name === before))) continue;
    const detail = `${unmet.reason}, nor is it by an earlier stage of this run`;
    throw new DomainError('invalid_transition', detail, {
      fields: [{ pointer: `${prefix}environmentNames`, detail }],
    });
  }
  if (stages.length > 0) return;
  const candidate = await findCandidate(tx, projectId, { domain, releaseName });
  if (!candidate) throw asError(missingCandidate({ domain, releaseName }), prefix);
  const detail = `No active environment of category release takes the branch ${candidate.branch ?? defaultBranch} of ${releaseName}`;
  throw new DomainError('invalid_transition', detail, { fields: [{ pointer: `${prefix}releaseName`, detail }] });
}

/** A run that promotes a release, before it is accepted. */
interface PromotedRun {
  type: FlowType;
  payload: RunPayload;
  place: RunPlace;
  executor: ReturnType<typeof executorHere>;
  stages: Awaited<ReturnType<typeof stagesOf>>;
  releaseName: string | undefined;
  parentId: string | null | undefined;
}

/** Throws when a run that promotes a release, or the stages of one that has children, may not be accepted. */
export async function assertPromotionOf(
  tx: Tx,
  promoted: PromotedRun,
  environmentIds: readonly string[],
  prefix: string,
): Promise<void> {
  const { type, payload, place, executor, stages, releaseName, parentId } = promoted;
  if (executor === 'children') return assertStagesPromotable(tx, place, stages, payload, prefix);
  const parent = parentId ? await findRun(tx, parentId) : undefined;
  const isChild = parent !== undefined && !isFinal(parent.status);
  const release = { projectId: place.projectId, domain: payload.domain ?? '', releaseName: releaseName ?? '' };
  return assertPromotable(tx, { ...release, type, payload, environmentIds, isChild }, prefix);
}
