import { defineEntity, p } from '@mikro-orm/core';

/** A run that changes an org, or waits for its turn to do so. */
export const OrgTurnSchema = defineEntity({
  name: 'OrgTurn',
  tableName: 'org_turn',
  properties: {
    tenantId: p.uuid().primary(),
    runId: p.uuid().primary(),
    /** The registered org. */
    orgId: p.uuid(),
    arrivedAt: p.datetime(3),
    /** When it asked last whether it is its turn. */
    askedAt: p.datetime(3),
    /** Since when it is its turn, which ends with the run; one run of an org has it. Null: it waits. */
    beganAt: p.datetime(3).nullable(),
  },
});
