import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import type { Override } from '../../projects/policies/promotion-policy-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { RunPayload } from './flow-payloads.ts';
import type { NewRun, RunPlace } from './new-runs.queries.ts';

/**
 * The override that a request has, in the name of an owner. Throws `forbidden` for everybody else: tokens, schedules
 * and members.
 */
export function overrideOf(
  { override }: RunPayload,
  requester: Pick<Actor, 'type' | 'role' | 'email'>,
  now: Date,
): Override | null {
  if (override === undefined) return null;
  if (requester.type !== 'user' || requester.role !== 'owner')
    throw new DomainError('forbidden', 'Only owners override the promotion policy of an environment, in person');
  return { reason: override.reason, by: requester.email, at: now.toISOString() };
}

/** Records and announces that a run passes the promotion policy by its override. */
export function announceOverride(
  tx: Tx,
  run: Pick<NewRun, 'payload' | 'taskType' | 'domain' | 'releaseName'> & { id: string; override: Override },
  place: RunPlace | undefined,
): void {
  const { id, taskType, payload, domain = null, releaseName = null, override } = run;
  const about = {
    repositoryIdentifier: place?.repositoryIdentifier ?? null,
    environmentName: payload.environmentName ?? null,
    domain,
    releaseName,
  };
  tx.audit({
    source: 'flow',
    action: 'promotion.overridden',
    entityType: 'flow_run',
    entityId: id,
    repositoryIdentifier: about.repositoryIdentifier,
    summary: `${override.by} overrode the promotion policy of ${about.environmentName ?? 'its environments'} for ${about.releaseName ?? taskType}`,
    after: { ...about, ...override },
  });
  emitEvent(tx, 'promotion.overridden', { executionId: id, taskType, ...about, ...override });
}
