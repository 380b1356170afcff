import { defineEntity, p } from '@mikro-orm/core';

export const RateLimitSchema = defineEntity({
  name: 'RateLimit',
  tableName: 'rate_limit',
  properties: {
    /** Name of the limit, and what is counted. */
    key: p.text().primary(),
    /** Requests that processes have taken for themselves until `expiresAt`. */
    taken: p.integer(),
    expiresAt: p.datetime(3),
  },
});
export class RateLimit extends RateLimitSchema.class {}
RateLimitSchema.setClass(RateLimit);
