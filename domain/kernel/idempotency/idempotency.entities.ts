import { defineEntity, p } from '@mikro-orm/core';

export const IdempotencyKeySchema = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_key',
  properties: {
    tenantId: p.uuid().primary(),
    subject: p.text().primary(),
    method: p.text().primary(),
    path: p.text().primary(),
    key: p.text().primary(),
    bodyHash: p.text(),
    startedAt: p.datetime(3).defaultRaw('now()'),
    /** When what the request asks for was committed; its reply is kept after that. */
    doneAt: p.datetime(3).nullable(),
    status: p.integer().nullable(),
    reply: p.text().nullable(),
  },
});
export class IdempotencyKey extends IdempotencyKeySchema.class {}
IdempotencyKeySchema.setClass(IdempotencyKey);
