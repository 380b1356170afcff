import { announceExpiry } from '../../../domain/identity/application-tokens/application-tokens.mutations.ts';
import { expiringTokens } from '../../../domain/identity/application-tokens/application-tokens.queries.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { defineSweep } from '../../kernel/system/define-sweep.ts';

/** Announces tokens that expire soon, each once. */
export const expiringTokensSweep = defineSweep({
  name: 'expiring-application-tokens',
  everyMs: 60_000,
  isRoutine: true,
  due: ({ system }, limit) => expiringTokens(system, limit),
  key: ({ id }) => id,
  handle: ({ actingAs }, { id, ...tenant }) =>
    actingAs(systemActor(tenant, 'application-tokens'))((tx) => announceExpiry(tx, id)),
});
