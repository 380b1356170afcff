import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { endHolds } from '../../../domain/delivery/release-candidates/holds/holds.mutations.ts';
import { candidatesWithEndedHolds } from '../../../domain/delivery/release-candidates/holds/holds.queries.ts';
import { defineSweep } from '../../kernel/system/define-sweep.ts';

/** Announces that the time of a hold is over. Runs that wait for it go on by their own timers. */
export const endedHoldsSweep = defineSweep({
  name: 'ended-holds',
  limit: 200,
  due: ({ system }, limit) => candidatesWithEndedHolds(system, limit),
  key: ({ id }) => id,
  async handle({ actingAs }, { id, ...tenant }) {
    await actingAs(systemActor(tenant, 'hold'))((tx) => endHolds(tx, id));
    return 1;
  },
});
