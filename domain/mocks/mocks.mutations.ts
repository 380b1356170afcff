import { LockMode } from '@mikro-orm/core';
import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import { json } from '../data/columns.ts';
import type { OutboundAddresses } from '../outbound/outbound-addresses.ts';
import type { Encryption } from '../shared/encryption.ts';
import { DomainError, invalidField, notFound } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import type { Tx } from '../unit-of-work.ts';
import { emitEvent } from '../webhooks/event-catalog.ts';
import { compileStep } from './compile-step.ts';
import { newMockKey } from './mock-keys.ts';
import { MockScenario } from './mocks.entities.ts';
import {
  lockWorkspace,
  scenarioByName,
  type ScenarioRow,
  stepSizes,
  stepsBySeq,
  workspaceByName,
} from './mocks.queries.ts';
import { ARM_MINUTES, isActive, isAnswering, type ScenarioMove, statusAfter } from './scenario-rules.ts';
import {
  ANY_REQUEST,
  BODIES_MAX_BYTES,
  type MockMode,
  SCENARIOS_MAX,
  SEQ_MAX,
  type Step,
  STEPS_MAX,
  type Unmatched,
} from './step-rules.ts';
import { givenStep, storedStep, type StoredStep } from './stored-steps.ts';

export interface MockParts {
  encryption: Encryption;
  /** The addresses that may be upstream. */
  outbound: OutboundAddresses;
}

export interface NewScenario {
  name: string;
  description: string;
  mode: MockMode;
  upstream?: string | null | undefined;
  unmatched: Unmatched;
  /** Absent: drawn. */
  seed?: number | undefined;
  /** Whether it begins to record. Default: where it has no steps. */
  record?: boolean | undefined;
  steps?: readonly (Omit<Step, 'seq'> & { seq?: number | undefined })[] | undefined;
}

/**
 * Adds a scenario to a workspace, which is made with its first one. Throws `already_exists`, `locked` where it would
 * record beside another active one, and `invalid_request`.
 */
export async function createScenario(
  tx: Tx,
  { encryption, outbound }: MockParts,
  workspaceName: string,
  { steps, record = steps === undefined, ...input }: NewScenario,
): Promise<ScenarioRow> {
  assertUpstream(outbound, input);
  const workspace = await workspaceOf(tx, encryption, workspaceName);
  await settleExpired(tx, workspace.id);
  const others = await tx.em.find(MockScenario, { tenantId: tx.tenantId, workspaceId: workspace.id });
  if (others.some(({ name }) => name === input.name))
    throw new DomainError('already_exists', `The workspace has a scenario ${input.name}`);
  if (others.length >= SCENARIOS_MAX)
    throw new DomainError('invalid_request', `A workspace has at most ${SCENARIOS_MAX} scenarios`);
  const active = others.find(({ status }) => isActive(status));
  if (record && active) throw lockedBy(active);
  const scenario = tx.em.create(MockScenario, {
    id: newId(),
    tenantId: tx.tenantId,
    workspaceId: workspace.id,
    name: input.name,
    description: input.description,
    status: record ? 'recording' : 'idle',
    mode: input.mode,
    upstream: input.upstream ?? null,
    unmatched: input.unmatched,
    seed: input.seed ?? randomInt(2 ** 31),
    armedUntil: null,
    unmatchedAt: null,
    createdBy: tx.actor.email,
    updatedBy: tx.actor.email,
  });
  await tx.em.flush();
  await tx.db.insertInto('mock_run').values({ tenantId: tx.tenantId, scenarioId: scenario.id, name: '' }).execute();
  await insertSteps(tx, scenario.id, numbered(steps ?? []));
  const row = await scenarioByName(tx, workspaceName, input.name);
  audit(tx, 'created', row, { after: stateOf(row) });
  return row;
}

/** Removes a scenario with its steps, runs and calls; an armed one is disarmed. Throws `not_found`. */
export async function deleteScenario(tx: Tx, workspaceName: string, name: string): Promise<void> {
  const { row, scenario } = await lockScenario(tx, workspaceName, name);
  if (scenario.status === 'armed') announceDisarmed(tx, row, 'deleted');
  audit(tx, 'deleted', row, { before: stateOf(row) });
  await tx.db.deleteFrom('mock_scenario').where('tenantId', '=', tx.tenantId).where('id', '=', row.id).execute();
}

export type StepChange = {
  request?: Step['request'] | undefined;
  response: Step['response'];
  times?: number | null | undefined;
};

/** Changes a step, or adds it. What is not given of a step that there is stays. Throws `not_found` and `invalid_request`. */
export async function putStep(
  tx: Tx,
  workspaceName: string,
  name: string,
  seq: number,
  { request, response, times }: StepChange,
): Promise<Step> {
  const { row, scenario } = await lockScenario(tx, workspaceName, name);
  const [stored] = await stepsBySeq(tx, row.id, [seq]);
  const before = stored && givenStep(stored);
  const step: Step = {
    seq,
    request: request ?? before?.request ?? ANY_REQUEST,
    response,
    times: times === undefined ? (before?.times ?? null) : times,
  };
  const kept = storedStep(step, (field) => field);
  assertCompiles(step, (field) => field);
  const sizes = (await stepSizes(tx, row.id)).filter((size) => size.seq !== seq);
  assertRoom(
    sizes.length + 1,
    sizes.reduce((sum, { bytes }) => sum + bytes, kept.body?.length ?? 0),
  );
  const values = rowOf(tx.tenantId, row.id, kept);
  await tx.db
    .insertInto('mock_step')
    .values(values)
    .onConflict((conflict) => conflict.columns(['tenantId', 'scenarioId', 'seq']).doUpdateSet(values))
    .execute();
  scenario.version++;
  touch(tx, scenario);
  audit(tx, before ? 'step_changed' : 'step_added', row, {
    ...(before && { before: summaryOf(before) }),
    after: summaryOf(step),
  });
  return step;
}

export interface Arming {
  minutes?: number | undefined;
  /** Stops whatever else is active in the workspace. */
  replace: boolean;
}

/**
 * Lets a scenario answer the requests to its workspace. One that does already gets a new end. Throws `not_found`,
 * `locked` where another one is active, and `invalid_transition` for one that records or has no steps.
 */
export async function armScenario(
  tx: Tx,
  workspaceName: string,
  name: string,
  { minutes = ARM_MINUTES, replace }: Arming,
): Promise<ScenarioRow> {
  const { row, scenario, workspaceId } = await lockScenario(tx, workspaceName, name);
  const wasArmed = scenario.status === 'armed';
  const moved = wasArmed ? 'armed' : statusAfter(scenario.status, 'arm');
  if (!moved) throw refusedMove(row, 'arm', `it is ${scenario.status}`);
  if (row.stepCount === 0) throw refusedMove(row, 'arm', 'it has no steps');
  const others = await tx.em.find(MockScenario, {
    tenantId: tx.tenantId,
    workspaceId,
    id: { $ne: row.id },
    status: { $in: ['recording', 'armed'] },
  });
  for (const other of others) {
    if (!replace) throw lockedBy(other);
    await endActive(tx, workspaceName, other, 'replaced');
  }
  // The other one gives up its place in the index of active ones first.
  await tx.em.flush();
  scenario.status = moved;
  scenario.armedUntil = new Date(tx.now.getTime() + minutes * 60_000);
  touch(tx, scenario);
  await tx.em.flush();
  const after = await scenarioByName(tx, workspaceName, name);
  audit(tx, 'armed', after, { before: stateOf(row), after: stateOf(after) });
  if (!wasArmed) {
    emitEvent(tx, 'mock_scenario.armed', {
      workspace: workspaceName,
      name,
      mode: after.mode,
      steps: after.stepCount,
      armedUntil: scenario.armedUntil.toISOString(),
      armedBy: tx.actor.email,
    });
  }
  return after;
}

/**
 * Ends the recording of a scenario, or disarms it; one that does neither stays as it is. Its runs stay where they are.
 * Throws `not_found`. @param reason `disarmed`: one that records goes on.
 */
export async function stopScenario(
  tx: Tx,
  workspaceName: string,
  name: string,
  reason: 'stopped' | 'disarmed',
): Promise<ScenarioRow> {
  const { row, scenario } = await lockScenario(tx, workspaceName, name);
  if (!isActive(scenario.status) || (reason === 'disarmed' && scenario.status === 'recording')) return row;
  await endActive(tx, workspaceName, scenario, reason);
  await tx.em.flush();
  return scenarioByName(tx, workspaceName, name);
}

/** Sets the cursor, the hits and the variables of all runs of a scenario to the beginning. Throws `not_found`. */
export async function rewindScenario(tx: Tx, workspaceName: string, name: string): Promise<ScenarioRow> {
  const { row, scenario } = await lockScenario(tx, workspaceName, name);
  const ofScenario = { tenantId: tx.tenantId, scenarioId: row.id };
  await tx.db
    .deleteFrom('mock_run')
    .where('tenantId', '=', ofScenario.tenantId)
    .where('scenarioId', '=', ofScenario.scenarioId)
    .where('name', '<>', '')
    .execute();
  await tx.db
    .updateTable('mock_run')
    .set((eb) => ({
      revision: eb('revision', '+', 1),
      cursor: 0,
      hits: json<Record<string, number>>({}),
      variables: json<Record<string, unknown>>({}),
      matched: 0,
      unmatched: 0,
    }))
    .where('tenantId', '=', ofScenario.tenantId)
    .where('scenarioId', '=', ofScenario.scenarioId)
    .execute();
  // Who compiled the scenario learns of the new round by the new version.
  tx.em.assign(scenario, {
    round: scenario.round + 1,
    version: scenario.version + 1,
    matchedBefore: 0,
    unmatchedBefore: 0,
  });
  touch(tx, scenario);
  await tx.em.flush();
  const after = await scenarioByName(tx, workspaceName, name);
  audit(tx, 'rewound', after, { before: { cursor: row.cursor }, after: { cursor: after.cursor } });
  return after;
}

/** Gives a workspace another key; the one before it leads nowhere from now on. Throws `not_found`. */
export async function rotateMockKey(tx: Tx, encryption: Encryption, workspaceName: string) {
  const workspace = await lockWorkspace(tx, workspaceName);
  if (!workspace) throw notFound('The workspace');
  const { key, keyHash } = newMockKey(encryption, workspace.id);
  await tx.db
    .updateTable('mock_workspace')
    .set({ key, keyHash, updatedAt: tx.now })
    .where('tenantId', '=', tx.tenantId)
    .where('id', '=', workspace.id)
    .execute();
  tx.audit({
    source: 'mock',
    action: 'mock_workspace.key_rotated',
    entityType: 'mock_workspace',
    entityId: workspace.id,
    summary: `Key of the mock workspace ${workspaceName} rotated`,
  });
  return { workspaceId: workspace.id, key };
}

/** Disarms a scenario whose time is over; one that was armed again meanwhile stays as it is. */
export async function disarmExpired(tx: Tx, scenarioId: string): Promise<number> {
  const scenario = await tx.em.findOne(
    MockScenario,
    { tenantId: tx.tenantId, id: scenarioId },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (!scenario || scenario.status !== 'armed' || isAnswering(scenario.status, scenario.armedUntil ?? null, tx.now))
    return 0;
  await endActive(tx, await nameOfWorkspace(tx, scenario.workspaceId), scenario, 'expired');
  return 1;
}

/** Announces that an armed scenario had no step for a request, at most once a minute. */
export async function announceUnmatched(
  tx: Tx,
  scenarioId: string,
  call: { workspace: string; name: string; run: string; method: string; path: string; unmatched: number },
): Promise<void> {
  const { numUpdatedRows } = await tx.db
    .updateTable('mock_scenario')
    .set({ unmatchedAt: sql<string>`now()` })
    .where('tenantId', '=', tx.tenantId)
    .where('id', '=', scenarioId)
    .where(sql<boolean>`coalesce(unmatched_at < now() - interval '1 minute', true)`)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) emitEvent(tx, 'mock_scenario.unmatched', call);
}

type EndReason = 'disarmed' | 'stopped' | 'replaced' | 'expired';

/** Stops what records, and disarms what is armed. */
async function endActive(tx: Tx, workspaceName: string, scenario: MockScenario, reason: EndReason): Promise<void> {
  const row = await scenarioByName(tx, workspaceName, scenario.name);
  const wasArmed = scenario.status === 'armed';
  scenario.status = statusAfter(scenario.status, 'stop') ?? scenario.status;
  scenario.armedUntil = null;
  touch(tx, scenario);
  if (wasArmed) announceDisarmed(tx, row, reason);
  audit(tx, wasArmed ? 'disarmed' : 'stopped', row, {
    before: stateOf(row),
    after: { ...stateOf(row), status: scenario.status, armedUntil: null, reason },
  });
}

const announceDisarmed = (tx: Tx, row: ScenarioRow, reason: EndReason | 'deleted') =>
  emitEvent(tx, 'mock_scenario.disarmed', {
    workspace: row.workspace,
    name: row.name,
    reason,
    matched: row.matched,
    unmatched: row.unmatchedCalls,
  });

/** What is armed past its time holds no place: its end is written down before others are. */
async function settleExpired(tx: Tx, workspaceId: string): Promise<void> {
  const expired = await tx.em.find(MockScenario, {
    tenantId: tx.tenantId,
    workspaceId,
    status: 'armed',
    armedUntil: { $lte: tx.now },
  });
  for (const scenario of expired) await endActive(tx, await nameOfWorkspace(tx, workspaceId), scenario, 'expired');
  await tx.em.flush();
}

async function nameOfWorkspace({ db, tenantId }: Pick<Tx, 'db' | 'tenantId'>, id: string): Promise<string> {
  const { name } = await db
    .selectFrom('mock_workspace')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .select('name')
    .executeTakeFirstOrThrow();
  return name;
}

/** A scenario that nobody else changes until the transaction ends. Throws `not_found`. */
export async function lockScenario(tx: Tx, workspaceName: string, name: string) {
  const workspace = await lockWorkspace(tx, workspaceName);
  if (!workspace) throw notFound('The scenario');
  await settleExpired(tx, workspace.id);
  const row = await scenarioByName(tx, workspaceName, name);
  const scenario = await tx.em.findOneOrFail(
    MockScenario,
    { tenantId: tx.tenantId, id: row.id },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  return { row, scenario, workspaceId: workspace.id };
}

async function workspaceOf(tx: Tx, encryption: Encryption, name: string) {
  if (!(await workspaceByName(tx, name))) {
    const id = newId();
    await tx.db
      .insertInto('mock_workspace')
      .values({ id, tenantId: tx.tenantId, name, ...newMockKey(encryption, id) })
      .onConflict((conflict) => conflict.columns(['tenantId', 'name']).doNothing())
      .execute();
  }
  const workspace = await lockWorkspace(tx, name);
  if (!workspace) throw notFound('The workspace');
  return workspace;
}

/** Throws `invalid_request` for an address that must not be called, and for passing on without one. */
export function assertUpstream(
  outbound: OutboundAddresses,
  { upstream, unmatched }: Pick<NewScenario, 'upstream' | 'unmatched'>,
): void {
  const refusal = upstream ? outbound.refusedUrl(upstream) : undefined;
  if (refusal !== undefined) throw invalidField('upstream', refusal);
  if (unmatched === 'pass_through' && !upstream) throw invalidField('unmatched', 'pass_through needs an upstream');
}

/** Gives steps without a number the next one. Throws `invalid_request` for numbers twice. */
export function numbered(steps: readonly (Omit<Step, 'seq'> & { seq?: number | undefined })[]): Step[] {
  const seen = new Set<number>();
  let last = 0;
  return steps.map(({ seq = last + 1, ...step }, index) => {
    if (seen.has(seq)) throw invalidField(`steps/${index}/seq`, `${seq} is the number of another step`);
    if (seq > SEQ_MAX) throw invalidField(`steps/${index}/seq`, `must be at most ${SEQ_MAX}`);
    seen.add(seq);
    last = seq;
    return { ...step, seq };
  });
}

const INSERTED_AT_ONCE = 100;

/** Adds steps to a scenario that has none of these numbers. Throws `invalid_request` for too many, too large or bad ones. */
export async function insertSteps(tx: Tx, scenarioId: string, steps: readonly Step[]): Promise<void> {
  const rows = steps.map((step, index) => {
    const field = (name: string) => `steps/${index}/${name}`;
    assertCompiles(step, field);
    return rowOf(tx.tenantId, scenarioId, storedStep(step, field));
  });
  assertRoom(
    rows.length,
    rows.reduce((sum, { body }) => sum + (body?.length ?? 0), 0),
  );
  for (let at = 0; at < rows.length; at += INSERTED_AT_ONCE)
    await tx.db
      .insertInto('mock_step')
      .values(rows.slice(at, at + INSERTED_AT_ONCE))
      .execute();
}

const rowOf = (tenantId: string, scenarioId: string, { request, response, ...step }: StoredStep) => ({
  tenantId,
  scenarioId,
  ...step,
  request: json(request),
  response: json(response),
});

function assertRoom(steps: number, bytes: number): void {
  if (steps > STEPS_MAX) throw new DomainError('invalid_request', `A scenario has at most ${STEPS_MAX} steps`);
  if (bytes > BODIES_MAX_BYTES)
    throw new DomainError('invalid_request', `The bodies of a scenario have at most ${BODIES_MAX_BYTES} bytes in all`);
}

/** Throws `invalid_request` for operators, templates and patterns that mean nothing. */
function assertCompiles(step: Step, field: (name: string) => string): void {
  const problem = compileStep.problem(step);
  if (problem) throw invalidField(field(problem.field), problem.detail);
}

const lockedBy = ({ name, status }: Pick<MockScenario, 'name' | 'status'>) =>
  new DomainError('locked', `The scenario ${name} of the workspace is ${status}`, {
    members: { scenario: name, status },
  });

const refusedMove = ({ name }: ScenarioRow, move: ScenarioMove, why: string) =>
  new DomainError('invalid_transition', `The scenario ${name} cannot be ${move}ed: ${why}`);

function touch({ actor, now }: Tx, scenario: MockScenario): void {
  scenario.updatedBy = actor.email;
  scenario.updatedAt = now;
}

/** What of a scenario stands in the audit trail; steps and bodies do not. */
const stateOf = ({ status, mode, upstream, unmatched, seed, armedUntil, stepCount, description }: ScenarioRow) => ({
  description,
  status,
  mode,
  upstream,
  unmatched: typeof unmatched === 'string' ? unmatched : { status: unmatched.status },
  seed,
  armedUntil,
  stepCount,
});

/** What of a step stands there: bodies and headers may hold secrets. */
const summaryOf = ({ seq, request: { method, path }, response: { status }, times }: Step) => ({
  seq,
  method,
  path,
  status,
  times,
});

export const audit = (
  tx: Tx,
  action: string,
  { id, workspace, name }: Pick<ScenarioRow, 'id' | 'workspace' | 'name'>,
  change: { before?: object; after?: object },
) =>
  tx.audit({
    source: 'mock',
    action: `mock_scenario.${action}`,
    entityType: 'mock_scenario',
    entityId: id,
    summary: `Mock scenario ${name} of ${workspace}: ${action.replaceAll('_', ' ')}`,
    ...change,
  });
