import { sql } from 'kysely';
import { isOwnPath } from '../../../identity/auth/own-path-rules.ts';
import type { Environment } from '../../../projects/environments/environments.entities.ts';
import { environmentById } from '../../../projects/environments/environments.queries.ts';
import { commandOf, type Commands } from '../../../delivery/flows/programs/commands-file.ts';
import { RECORD_SESSION } from '../../../delivery/flows/flow-categories.ts';
import { type AcceptedRun, acceptNewRun } from '../../../delivery/flows/new-runs.mutations.ts';
import type { RunContext } from '../../../delivery/flows/flow-runs.queries.ts';
import { projectById, projectInRequest, type ProjectFacts } from '../../../projects/projects/projects.queries.ts';
import { isActive, isOver } from '../../review-assignments/assignment-rules.ts';
import { lockAssignment } from '../../review-assignments/assignment-changes.queries.ts';
import { leaseOf } from '../../review-assignments/review-leases.mutations.ts';
import { openAssignment } from '../../review-assignments/review-assignments.queries.ts';
import type { Actor } from '../../../kernel/shared/actor.ts';
import { DomainError, invalidField } from '../../../kernel/shared/errors.ts';
import { newId } from '../../../kernel/shared/ids.ts';
import type { Tx } from '../../../unit-of-work.ts';
import type { Viewport } from '../browser-provider.port.ts';
import { availableProviders } from '../providers.queries.ts';
import { record } from '../session-announcements.ts';
import { insertSession } from '../session-changes.queries.ts';
import { DEFAULT_MINUTES, expiryOf } from '../session-rules.ts';
import { countOpenLocal, openSessionOfPr, sessionById, sessionOfRun, type SessionRow } from '../sessions.queries.ts';

const VIEWPORT: Viewport = { width: 1_280, height: 720 };

/** How a session is to be; what is absent is as usual, or as the environment says. */
export interface SessionWish {
  minutes?: number | undefined;
  startPath?: string | undefined;
  viewport?: Viewport | undefined;
  allowedHosts?: readonly string[] | undefined;
  recording?: boolean | undefined;
}

/** A session, and the flow run that asks for it and is to be started after the commit; none for one that exists. */
export interface RequestedSession {
  session: SessionRow;
  run?: AcceptedRun;
}

interface Context {
  requestId?: string | undefined;
  commands: Commands;
  /** Local ones that a tenant may have provisioning or live at the same time. */
  sessionsPerTenant: number;
}

/**
 * Allocates a browser at the org that is assigned to a pull request; one that is provisioning or live is answered again.
 * Throws `invalid_request`, `not_found` without an active assignment, `flow_unavailable`, and `rate_limited` when the tenant has
 * too many open local sessions.
 */
export async function recordForPullRequest(
  tx: Tx,
  { repositoryIdentifier, prNumber, ...wish }: SessionWish & { repositoryIdentifier: string; prNumber: number },
  context: Context,
): Promise<RequestedSession> {
  const project = await projectInRequest(tx, repositoryIdentifier);
  const target = await targetOfPullRequest(tx, project, prNumber);
  const existing = await openSessionOfPr(tx, { projectId: project.id, prNumber });
  return existing ? { session: existing } : request(tx, target, wish, context);
}

/**
 * Allocates a browser at the org of an environment. Throws `not_found`, `invalid_request` without an org, `flow_unavailable`,
 * `rate_limited` as for a pull request.
 */
export const recordInEnvironment = async (
  tx: Tx,
  environmentId: string,
  wish: SessionWish,
  context: Context,
): Promise<RequestedSession> => request(tx, await targetOfEnvironment(tx, environmentId), wish, context);

interface SessionTarget {
  project: ProjectFacts;
  environment: Environment | null;
  prNumber: number | null;
  assignmentId: string | null;
  orgUsername: string;
}

const withoutOrg = (environmentName: string) =>
  new DomainError('invalid_request', `The environment ${environmentName} names no org: set its orgUsername`);

async function targetOfEnvironment(tx: Tx, id: string): Promise<SessionTarget> {
  const { environment, project } = await environmentById(tx, id);
  const { orgUsername } = environment;
  if (!orgUsername) throw withoutOrg(environment.name);
  return { project, environment, prNumber: null, assignmentId: null, orgUsername };
}

/** The org that is assigned to a pull request; the assignment is locked. Throws `not_found`. */
async function targetOfPullRequest(tx: Tx, project: ProjectFacts, prNumber: number): Promise<SessionTarget> {
  const key = { projectId: project.id, assignmentType: 'pr', assignmentKey: String(prNumber) } as const;
  const seen = await openAssignment(tx, key);
  if (seen) await lockAssignment(tx, seen.id);
  const found = seen && (await openAssignment(tx, key));
  if (!found || !isActive(found.state) || isOver(leaseOf(found), tx.now)) {
    const detail = `Pull request ${prNumber} of ${project.identifier} has no active review assignment: assign a review environment to it first`;
    throw new DomainError('not_found', detail);
  }
  const { id: assignmentId, environmentId, orgUsername, targetName } = found;
  if (orgUsername === null) throw withoutOrg(targetName);
  const environment = environmentId === null ? null : (await environmentById(tx, environmentId)).environment;
  return { project, environment, prNumber, assignmentId, orgUsername };
}

async function request(tx: Tx, target: SessionTarget, wish: SessionWish, context: Context): Promise<RequestedSession> {
  const { project, environment, prNumber } = target;
  const id = newId();
  const pipeline = project.configuration.recordPipeline;
  const payload = {
    id: RECORD_SESSION,
    repositoryIdentifier: project.identifier,
    sessionId: id,
    ...(prNumber !== null && { prNumber }),
    ...(environment && { environmentName: environment.name }),
    ...(pipeline && { pipeline }),
  };
  const run = await acceptNewRun(tx, payload, { ...context, prefix: '' });
  const isExecutedOutside = pipeline !== undefined || commandOf(context.commands, RECORD_SESSION) !== undefined;
  const { sessionsPerTenant } = context;
  const session = await insert(tx, {
    id,
    runId: run.runId,
    target,
    wish,
    isExecutedOutside,
    sessionsPerTenant,
    createdBy: tx.actor,
  });
  return { session, run };
}

async function insert(
  tx: Tx,
  given: {
    id: string;
    runId: string;
    target: SessionTarget;
    wish: SessionWish;
    isExecutedOutside: boolean;
    isLocal?: boolean;
    sessionsPerTenant: number;
    createdBy: Actor;
  },
): Promise<SessionRow> {
  const { id, runId, target, wish, isExecutedOutside, isLocal = false, createdBy } = given;
  const { project, environment, ...where } = target;
  const { minutes = DEFAULT_MINUTES, startPath, viewport = VIEWPORT, recording } = wish;
  if (startPath !== undefined && !isOwnPath(startPath, ''))
    throw invalidField('startPath', 'must be a path within the org that begins with one slash');
  const { local, ...available } = await availableProviders(tx, project.id, { isExecutedOutside });
  const provider = isLocal && local.available ? 'local' : isLocal ? null : available.provider;
  const reason = isLocal ? local.reason : available.reason;
  if (provider === null) throw new DomainError('flow_unavailable', reason ?? 'Nothing allocates browsers here');
  if (provider === 'local') await assertRoom(tx, given.sessionsPerTenant);
  const settings = environment?.browser ?? null;
  const allowedHosts = [...new Set([...(settings?.allowedHosts ?? []), ...(wish.allowedHosts ?? [])])];
  const session = {
    id,
    projectId: project.id,
    ...where,
    environmentId: environment?.id ?? null,
    provider,
    minutes,
    startPath: startPath ?? null,
    viewport,
    allowedHosts,
    isRecorded: recording ?? settings?.recording ?? true,
    expiresAt: expiryOf(tx.now, tx.now, minutes),
    flowRunId: runId,
  };
  await insertSession(tx, session, createdBy);
  const created = await sessionById(tx, id);
  await record(tx, created, 'created', 'was requested', { data: { provider, minutes } });
  return created;
}

const RETRY_AFTER_SECONDS = 60;

/** The slots of hosts are for all tenants. Two requests at the same time are counted one after the other. */
async function assertRoom(tx: Tx, most: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`browser-sessions/${tx.tenantId}`}, 0))`.execute(tx.db);
  if ((await countOpenLocal(tx)) < most) return;
  const detail = `${most} browser sessions are provisioning or live: stop one of them, or wait until one ends`;
  throw new DomainError('rate_limited', detail, { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } });
}

/**
 * The session of a run that the service itself executes; a run that was started without one gets it, for its pull
 * request or environment. Retrying is safe. Throws `invalid_request`, `not_found`, `flow_unavailable`, `rate_limited`.
 * @param options `isLocal`: on a browser host of this installation, whatever else there is.
 */
export async function sessionForRun(
  tx: Tx,
  run: RunContext,
  { sessionsPerTenant }: Pick<Context, 'sessionsPerTenant'>,
  { wish = {}, isLocal = false }: { wish?: SessionWish; isLocal?: boolean } = {},
): Promise<SessionRow> {
  const existing = await sessionOfRun(tx, run.id);
  if (existing) return existing;
  const { projectId, environmentId, payload } = run;
  const project = projectId === null ? undefined : await projectById(tx, projectId);
  if (!project) throw invalidField('repositoryIdentifier', 'The run names no repository');
  const given = {
    id: newId(),
    runId: run.id,
    wish,
    isExecutedOutside: false,
    isLocal,
    sessionsPerTenant,
    createdBy: run.requestedBy,
  };
  if (environmentId !== null) return insert(tx, { ...given, target: await targetOfEnvironment(tx, environmentId) });
  const { prNumber } = payload;
  if (prNumber === undefined) throw invalidField('prNumber', 'The run names neither a pull request nor an environment');
  const target = await targetOfPullRequest(tx, project, prNumber);
  if (await openSessionOfPr(tx, { projectId: project.id, prNumber }))
    throw new DomainError('invalid_request', `Pull request ${prNumber} has a browser session already`);
  return insert(tx, { ...given, target });
}
