import { addFindings, beginDrift, endDrift } from '../../domain/mocks/drift/drifts.mutations.ts';
import { driftPlace } from '../../domain/mocks/drift/drifts.queries.ts';
import { compareWithUpstream } from '../../domain/mocks/scenarios/compare-step.ts';
import type { DriftFinding } from '../../domain/mocks/mocks.entities.ts';
import { stepsBySeq } from '../../domain/mocks/mocks.queries.ts';
import { givenStep } from '../../domain/mocks/scenarios/stored-steps.ts';
import { systemActor, type TenantKey } from '../../domain/kernel/shared/actor.ts';
import type { MockDriftInput } from '../../workflows/mocks/mock-drift.contract.ts';
import type { Deps } from '../deps.ts';
import { withHeartbeat } from '../heartbeat.ts';

const comparer = (tenant: TenantKey) => systemActor(tenant, 'mock-drift');

export const createMockDriftActivities = (deps: Deps) => ({
  /** The steps to ask for; undefined for a comparison that has ended, or is gone. */
  beginDrift: ({ driftId, ...tenant }: MockDriftInput) =>
    deps.actingAs(comparer(tenant))(async (tx) => {
      const seqs = await beginDrift(tx, driftId);
      const place = await driftPlace(tx, driftId);
      // The hosts alone: the path or query of an address may have a secret.
      const all = place && [place.upstream, ...place.upstreams.map(({ upstream }) => upstream)];
      const names = all?.flatMap((upstream) => URL.parse(upstream ?? '')?.host ?? []).join(', ') ?? '';
      return seqs && place && { seqs, scenario: place.name, upstream: names };
    }),

  /** Asks the upstream for some steps and notes those that differ; answers how many. */
  compareSteps: ({ driftId, seqs, ...tenant }: MockDriftInput & { seqs: number[] }): Promise<number> =>
    withHeartbeat(async (signal) => {
      const reads = deps.reads.as(comparer(tenant));
      const place = await driftPlace(reads, driftId);
      if (!place || place.endedAt) return 0;
      const findings: DriftFinding[] = [];
      for (const stored of await stepsBySeq(reads, place.scenarioId, seqs)) {
        const finding = await compareWithUpstream(deps.mocks.forward, place, givenStep(stored), signal);
        if (finding) findings.push(finding);
      }
      await deps.actingAs(comparer(tenant))((tx) => addFindings(tx, driftId, seqs, findings));
      return findings.length;
    }),

  async endDrift({
    driftId,
    checked,
    error,
    ...tenant
  }: MockDriftInput & { checked: number; error: string | null }): Promise<void> {
    await deps.actingAs(comparer(tenant))((tx) => endDrift(tx, driftId, { checked, error }));
  },
});
export type MockDriftActivities = ReturnType<typeof createMockDriftActivities>;
