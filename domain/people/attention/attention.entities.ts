import { defineEntity, p } from '@mikro-orm/core';
import type { AttentionKind } from '../../kernel/attention/attention-rules.ts';

/** Somebody has seen for the tenant what a person should look at; it holds as long as that says the same. */
export const AttentionAcknowledgementSchema = defineEntity({
  name: 'AttentionAcknowledgement',
  tableName: 'attention_acknowledgement',
  properties: {
    tenantId: p.uuid().primary(),
    kind: p.text().$type<AttentionKind>().primary(),
    /** Id of the thing that it is about. */
    key: p.uuid().primary(),
    /** Digest of what it said. */
    fingerprint: p.text(),
    acknowledgedBy: p.text(),
    acknowledgedAt: p.datetime(3),
    comment: p.text().nullable(),
  },
});
