import type { Tx } from '../../unit-of-work.ts';
import type { MockScenario } from '../mocks.entities.ts';
import type { ScenarioRow } from '../mocks.queries.ts';

/** Notes who changed a scenario last. */
export function touch({ actor, now }: Tx, scenario: MockScenario): void {
  scenario.updatedBy = actor.email;
  scenario.updatedAt = now;
}

/** What of a scenario stands in the audit trail; steps and bodies do not. */
export const stateOf = ({
  status,
  mode,
  upstream,
  upstreams,
  unmatched,
  seed,
  armedUntil,
  stepCount,
  description,
}: ScenarioRow) => ({
  description,
  status,
  mode,
  upstream,
  upstreams,
  unmatched: typeof unmatched === 'string' ? unmatched : { status: unmatched.status },
  seed,
  armedUntil,
  stepCount,
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
