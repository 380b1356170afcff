import { DomainError, invalidField, notFound } from '../../../kernel/shared/errors.ts';
import type { Tx } from '../../../unit-of-work.ts';
import type { Commands } from '../programs/commands-file.ts';
import { endRun } from '../flow-runs.mutations.ts';
import { runById } from '../flow-runs.queries.ts';
import { type AcceptedRun, acceptRun } from '../new-runs.mutations.ts';
import { stagesOf } from '../promoted-runs.ts';
import { assertApprovals, assertAvailable, gatesInRequest } from '../run-refusals.ts';
import {
  addPeople,
  countSchedules,
  findSchedule,
  insertSchedule,
  makersOfSchedule,
  markDeleted,
  noteRefusal,
  type ScheduleRow,
  SCHEDULES_MAX,
  lockSchedule,
  replacePayload,
  updateSchedule,
} from './flow-schedules.queries.ts';
import { obeysWindows } from '../programs/executor-rules.ts';
import { parsePayload } from '../parse-payload.ts';
import { peopleBehind } from '../../../identity/application-tokens/requesters.queries.ts';
import { nextDue } from './schedule-times.ts';

const PREFIX = 'payload/';

export interface ScheduleInput {
  name: string;
  /** Five fields, as in crontab(5). */
  cron: string;
  /** IANA name. */
  timezone: string;
  payload: Record<string, unknown>;
}

/**
 * Adds a schedule. Throws `already_exists` for a taken name; `invalid_request` for times that do not exist, a payload
 * that cannot be run, and beyond `SCHEDULES_MAX`; `flow_unavailable` where nothing executes its runs;
 * `too_few_approvers`.
 */
export async function createSchedule(
  tx: Tx,
  { payload: given, ...input }: ScheduleInput,
  commands: Commands,
): Promise<ScheduleRow> {
  nextDue(input, tx.now);
  const runs = await scheduledRuns(tx, given, commands);
  if ((await countSchedules(tx)) >= SCHEDULES_MAX)
    throw new DomainError('invalid_request', `A tenant has at most ${SCHEDULES_MAX} schedules`);
  const id = await insertSchedule(tx, { ...input, ...runs, schedulePath: `schedules/${input.name}` });
  if (id === undefined) throw new DomainError('already_exists', `There is already a schedule named ${input.name}`);
  const schedule = await scheduleById(tx, id);
  audit(tx, 'created', schedule);
  return schedule;
}

/** What a schedule starts, and who answers for it. Throws as `createSchedule` does. */
async function scheduledRuns(tx: Tx, given: Record<string, unknown>, commands: Commands) {
  const { type, payload: asked } = parsePayload(given, PREFIX);
  if (obeysWindows(type) && asked.override !== undefined)
    throw invalidField(`${PREFIX}override`, 'An override is for one run, which an owner starts in person');
  const { place, payload, executor, gates } = await gatesInRequest(tx, type, asked, { prefix: PREFIX, commands });
  await assertAvailable(tx, type, payload, commands, { place, gates });
  const stages = place && executor === 'children' ? await stagesOf(tx, place, payload) : [];
  await assertApprovals(tx, { payload, gates, stages }, tx.actor);
  return { payload: asked, projectId: place?.projectId ?? null, peopleIds: await peopleBehind(tx, tx.actor) };
}

export interface ScheduleChanges {
  cron?: string | undefined;
  timezone?: string | undefined;
  isPaused?: boolean | undefined;
  payload?: Record<string, unknown> | undefined;
}

/**
 * Changes when a schedule is due, what it starts, or whether it is paused. Whoever sets its runs in motion by that answers
 * for them, too. Throws `not_found`, and as `createSchedule` does.
 */
export async function changeSchedule(
  tx: Tx,
  id: string,
  { payload, cron, timezone, isPaused }: ScheduleChanges,
  commands: Commands,
): Promise<ScheduleRow> {
  await lockSchedule(tx, id);
  const before = await scheduleById(tx, id);
  const times = { cron: cron ?? before.cron, timezone: timezone ?? before.timezone };
  nextDue(times, tx.now);
  await updateSchedule(tx, id, { ...times, isPaused: isPaused ?? before.isPaused });
  const runs = payload && (await scheduledRuns(tx, payload, commands));
  if (runs) await replacePayload(tx, id, runs);
  const setsInMotion = runs !== undefined || cron !== undefined || timezone !== undefined || isPaused === false;
  if (setsInMotion) await addPeople(tx, id, runs?.peopleIds ?? (await peopleBehind(tx, tx.actor)));
  const schedule = await scheduleById(tx, id);
  audit(tx, 'updated', schedule, before);
  return schedule;
}

/** Throws `not_found`. */
export async function removeSchedule(tx: Tx, id: string): Promise<ScheduleRow> {
  const schedule = await scheduleById(tx, id);
  const updatedAt = await markDeleted(tx, id);
  audit(tx, 'deleted', schedule);
  return { ...schedule, updatedAt };
}

/** What a schedule that is due does: at most one run for each occasion. */
export interface DueSchedule {
  /** To be started. */
  accepted?: AcceptedRun;
  /** Why there is no run, for people. */
  refusal?: string;
}

/**
 * Accepts the run of a schedule that is due. One that cannot go, for reasons for which a caller would be refused, is
 * accepted and fails at once with the reason; where its payload names what was removed, the schedule has the reason.
 * Nothing when the schedule was removed or is paused, or the occasion had its run.
 * @param occasion names the schedule and the moment.
 */
export async function acceptScheduledRun(
  tx: Tx,
  id: string,
  occasion: string,
  commands: Commands,
): Promise<DueSchedule> {
  const schedule = await findSchedule(tx, id);
  if (!schedule || schedule.isPaused) return {};
  const { payload, schedulePath } = schedule;
  const { peopleIds, limitedTo } = await makersOfSchedule(tx, id);
  const requestedBy = { ...tx.actor, onBehalfOf: peopleIds, ...(limitedTo && { projectIds: limitedTo }) };
  const origin = {
    scheduleId: id,
    isScheduled: true,
    schedulePath,
    externalId: occasion,
    triggeredBy: 'cron',
    requestedBy,
  };
  const asked = await refusable(() => acceptRun(tx, payload, { ...origin, commands }));
  const made = asked.refusal === undefined ? asked : await refusable(() => acceptRun(tx, payload, origin));
  if (made.refusal !== undefined) {
    await refuse(tx, schedule, made.refusal);
    return { refusal: made.refusal };
  }
  if (!made.result) return {};
  await noteRefusal(tx, id, null);
  if (asked.refusal === undefined) return { accepted: made.result };
  await endRun(tx, await runById(tx, made.result.runId), { status: 'failed', error: asked.refusal });
  return { refusal: asked.refusal };
}

async function refusable<T>(work: () => Promise<T>): Promise<{ result: T; refusal?: undefined } | { refusal: string }> {
  try {
    return { result: await work() };
  } catch (error) {
    if (error instanceof DomainError) return { refusal: error.message };
    throw error;
  }
}

async function refuse(tx: Tx, { id, name, repositoryIdentifier }: ScheduleRow, reason: string): Promise<void> {
  await noteRefusal(tx, id, reason);
  tx.audit({
    source: 'flow',
    action: 'flow_schedule.refused',
    entityType: 'flow_schedule',
    entityId: id,
    repositoryIdentifier,
    summary: `Schedule ${name} was due and started no run: ${reason}`,
    after: { reason },
  });
}

async function scheduleById(tx: Tx, id: string): Promise<ScheduleRow> {
  const schedule = await findSchedule(tx, id);
  if (!schedule) throw notFound('The schedule');
  return schedule;
}

const audited = ({ name, cron, timezone, isPaused, payload }: ScheduleRow) => ({
  name,
  cron,
  timezone,
  isPaused,
  taskType: payload.id,
});

const audit = (tx: Tx, action: 'created' | 'updated' | 'deleted', schedule: ScheduleRow, before?: ScheduleRow) =>
  tx.audit({
    source: 'flow',
    action: `flow_schedule.${action}`,
    entityType: 'flow_schedule',
    entityId: schedule.id,
    repositoryIdentifier: schedule.repositoryIdentifier,
    summary: `Schedule ${schedule.name} ${action}`,
    ...(before && { before: { ...audited(before), payload: before.payload } }),
    after: before ? { ...audited(schedule), payload: schedule.payload } : audited(schedule),
  });
