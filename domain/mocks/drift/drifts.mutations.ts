import { DomainError } from '../../kernel/shared/errors.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import { stepHeads } from '../verification/calls.queries.ts';
import { driftUnderWay, latestDrift } from './drifts.queries.ts';
import { type DriftFinding, MockDrift, MockScenario } from '../mocks.entities.ts';
import { lockScenario } from '../scenarios/active-scenarios.mutations.ts';
import { isAskable } from './drift-rules.ts';
import type { StepRequest } from '../scenarios/step-rules.ts';

/**
 * Asks for a comparison of a scenario with its upstream; one that is under way is joined. Throws `not_found`, and
 * `invalid_request` for a scenario without an upstream.
 */
export async function requestDrift(tx: Tx, workspace: string, name: string) {
  const { row } = await lockScenario(tx, workspace, name);
  if (row.upstream === null && row.upstreams.length === 0)
    throw new DomainError('invalid_request', 'The scenario has no upstream to be compared with');
  const running = await driftUnderWay(tx, row.id);
  if (running) return running;
  tx.em.create(MockDrift, { id: newId(), tenantId: tx.tenantId, scenarioId: row.id, requestedBy: tx.actor.email });
  await tx.em.flush();
  const drift = await latestDrift(tx, row.id);
  if (!drift) throw new DomainError('internal', 'The comparison was not stored');
  tx.audit({
    source: 'mock',
    action: 'mock_scenario.drift_requested',
    entityType: 'mock_scenario',
    entityId: row.id,
    summary: `${tx.actor.email} asked for a comparison of the mock scenario ${name} with its upstream`,
    after: { driftId: drift.id },
  });
  return drift;
}

/** Begins a comparison: answers the numbers of the steps to ask for. Undefined for one that has ended, or is gone. */
export async function beginDrift(tx: Tx, id: string): Promise<number[] | undefined> {
  const drift = await tx.em.findOne(MockDrift, { tenantId: tx.tenantId, id });
  if (!drift || drift.endedAt) return undefined;
  const steps = await stepHeads(tx, drift.scenarioId);
  // The newest of several steps that ask the same tells how the upstream answered last.
  const asked = new Map(
    steps.filter(({ request }) => isAskable(request)).map(({ seq, request }) => [addressOf(request), seq]),
  );
  Object.assign(drift, { status: 'running', skipped: steps.length - asked.size });
  tx.noteDone();
  await tx.em.flush();
  return [...asked.values()];
}

const addressOf = ({ path, query = {} }: StepRequest): string => `${path}?${JSON.stringify(query)}`;

/** Adds what came of some steps; of steps that were added before, the newer counts. */
export async function addFindings(
  tx: Tx,
  id: string,
  seqs: readonly number[],
  found: readonly DriftFinding[],
): Promise<void> {
  const drift = await tx.em.findOne(MockDrift, { tenantId: tx.tenantId, id });
  if (!drift || drift.endedAt) return;
  const others = drift.findings.filter(({ seq }) => !seqs.includes(seq));
  drift.findings = [...others, ...found].toSorted((a, b) => a.seq - b.seq);
  tx.noteDone();
  await tx.em.flush();
}

/** Ends a comparison; of one that has ended, nothing changes. */
export async function endDrift(
  tx: Tx,
  id: string,
  { checked, error = null }: { checked: number; error?: string | null },
): Promise<void> {
  const drift = await tx.em.findOne(MockDrift, { tenantId: tx.tenantId, id });
  if (!drift || drift.endedAt) return;
  Object.assign(drift, { status: error === null ? 'completed' : 'failed', checked, error, endedAt: tx.now });
  await tx.em.flush();
  const scenario = await tx.em.findOne(MockScenario, { tenantId: tx.tenantId, id: drift.scenarioId });
  tx.audit({
    source: 'mock',
    action: 'mock_scenario.drift_checked',
    entityType: 'mock_scenario',
    entityId: drift.scenarioId,
    summary: `The comparison of the mock scenario ${scenario?.name ?? ''} with its upstream ${drift.status}: ${drift.findings.length} steps differ`,
    after: { driftId: id, status: drift.status, checked, findings: drift.findings.length, error },
  });
}
