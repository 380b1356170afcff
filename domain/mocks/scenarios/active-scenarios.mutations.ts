import { LockMode } from '@mikro-orm/core';
import { sql } from 'kysely';
import { DomainError, notFound } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { MockScenario } from '../mocks.entities.ts';
import { lockWorkspace, nameOfWorkspace, scenarioByName, type ScenarioRow } from '../mocks.queries.ts';
import { isAnswering, statusAfter } from './scenario-rules.ts';
import { audit, stateOf, touch } from '../serving/scenario-trail.ts';

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

/** Disarms a scenario that has expired; one that was armed again meanwhile stays as it is. */
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
export async function endActive(
  tx: Tx,
  workspaceName: string,
  scenario: MockScenario,
  reason: EndReason,
): Promise<void> {
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

export const announceDisarmed = (tx: Tx, row: ScenarioRow, reason: EndReason | 'deleted') =>
  emitEvent(tx, 'mock_scenario.disarmed', {
    workspace: row.workspace,
    name: row.name,
    reason,
    matched: row.matched,
    unmatched: row.unmatchedCalls,
  });

/** What is armed past its time holds no place: its end is written down before others are. */
export async function settleExpired(tx: Tx, workspaceId: string): Promise<void> {
  const expired = await tx.em.find(MockScenario, {
    tenantId: tx.tenantId,
    workspaceId,
    status: 'armed',
    armedUntil: { $lte: tx.now },
  });
  for (const scenario of expired) await endActive(tx, await nameOfWorkspace(tx, workspaceId), scenario, 'expired');
  await tx.em.flush();
}

/** The refusal of what would be active beside another scenario. */
export const lockedBy = ({ name, status }: Pick<MockScenario, 'name' | 'status'>) =>
  new DomainError('locked', `The scenario ${name} of the workspace is ${status}`, {
    members: { scenario: name, scenarioStatus: status },
  });
