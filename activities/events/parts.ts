import { connectDatabase } from '../../domain/kernel/data/database.ts';
import type { DatabaseAccess } from '../../domain/kernel/data/pool.ts';
import type { Database } from '../../domain/kernel/data/tables.ts';
import type { WebhookSender } from '../../domain/events/webhooks/webhook-sender.port.ts';
import { createWebhookSender } from '../adapters/messages/webhook-sender.ts';
import type { Base, Made } from '../base.ts';

/** For the connections of the delivery lanes (ADR 5). */
const LANE_SETTINGS = {
  // Their statements find rows by an index. A plan that was made while the tables were empty would read all rows.
  enable_seqscan: 'off',
  // A delivery stays pending until its outcome is on disk: what a crash of the database loses is sent again.
  synchronous_commit: 'off',
};

export interface EventWork {
  webhooks: {
    /** Connections with the role of the system, for the statements of the delivery lanes alone. */
    lanes: Database;
    send: WebhookSender;
    /** How long deliveries are kept. */
    logRetentionDays: number;
  };
}

export function createEventWork(
  { config, outbound, onConnectionLost }: Base,
  systemAccess: DatabaseAccess,
): Made<EventWork> {
  const lanes = connectDatabase({ ...systemAccess, settings: LANE_SETTINGS }, onConnectionLost);
  const { send, close } = createWebhookSender(outbound);
  return {
    parts: { webhooks: { lanes: lanes.db, send, logRetentionDays: config.WEBHOOK_LOG_RETENTION_DAYS } },
    close: () => Promise.all([lanes.close(), close()]),
  };
}
