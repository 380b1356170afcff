import { randomInt } from 'node:crypto';
import { json } from '../kernel/data/columns.ts';
import type { OutboundAddresses } from '../kernel/outbound/outbound-addresses.ts';
import type { Encryption } from '../kernel/encryption/encryption.ts';
import { DomainError, invalidField } from '../kernel/shared/errors.ts';
import { newId } from '../kernel/shared/ids.ts';
import type { Tx } from '../unit-of-work.ts';
import { announceDisarmed, lockedBy, lockScenario, settleExpired } from './scenarios/active-scenarios.mutations.ts';
import { MockScenario } from './mocks.entities.ts';
import { scenarioByName, type ScenarioRow } from './mocks.queries.ts';
import { isActive } from './scenarios/scenario-rules.ts';
import { audit, stateOf, touch } from './serving/scenario-trail.ts';
import type { PrefixedUpstream } from './serving/scenario-upstreams.ts';
import { type MockMode, SCENARIOS_MAX, type Step, type Unmatched } from './scenarios/step-rules.ts';
import { insertSteps, numbered } from './scenarios/steps.mutations.ts';
import { workspaceOf } from './workspaces.mutations.ts';

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
  /** Further hosts. */
  upstreams?: readonly PrefixedUpstream[] | undefined;
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
    upstreams: [...(input.upstreams ?? [])],
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

/** Throws `invalid_request` for an address that must not be called, and for passing on without one. */
export function assertUpstream(
  outbound: OutboundAddresses,
  { upstream, upstreams = [], unmatched }: Pick<NewScenario, 'upstream' | 'upstreams' | 'unmatched'>,
): void {
  const refusal = upstream ? outbound.refusedUrl(upstream) : undefined;
  if (refusal !== undefined) throw invalidField('upstream', refusal);
  for (const [index, further] of upstreams.entries()) {
    const reason = outbound.refusedUrl(further.upstream);
    if (reason !== undefined) throw invalidField(`upstreams/${index}/upstream`, reason);
  }
  if (unmatched === 'pass_through' && !upstream && upstreams.length === 0)
    throw invalidField('unmatched', 'pass_through needs an upstream');
}
