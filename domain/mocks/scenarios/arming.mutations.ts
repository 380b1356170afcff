import { DomainError } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { endActive, lockedBy, lockScenario } from './active-scenarios.mutations.ts';
import { MockScenario } from '../mocks.entities.ts';
import { scenarioByName, type ScenarioRow } from '../mocks.queries.ts';
import { ARM_MINUTES, isActive, type ScenarioMove, statusAfter } from './scenario-rules.ts';
import { audit, stateOf, touch } from '../serving/scenario-trail.ts';

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

const refusedMove = ({ name }: ScenarioRow, move: ScenarioMove, why: string) =>
  new DomainError('invalid_transition', `The scenario ${name} cannot be ${move}ed: ${why}`);
