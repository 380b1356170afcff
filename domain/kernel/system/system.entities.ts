import { defineEntity, p } from '@mikro-orm/core';

/** A row that a sweep could not deal with. */
export const SweepFailureSchema = defineEntity({
  name: 'SweepFailure',
  tableName: 'sweep_failure',
  properties: {
    sweep: p.text().primary(),
    rowKey: p.text().primary(),
    attempts: p.integer(),
    lastError: p.text(),
    firstFailedAt: p.datetime(3).defaultRaw('now()'),
    nextAttemptAt: p.datetime(3),
  },
});
