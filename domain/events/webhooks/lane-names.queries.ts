import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';

/** The names of the lanes of these webhooks, by webhook; null: of a webhook of a process of an earlier version. */
export async function laneNames({ db }: Reads, webhookIds: readonly string[]): Promise<Map<string, string | null>> {
  const { rows } = await sql<{ webhookId: string; laneName: string | null }>`
    select "webhookId", "laneName" from webhook_lane_names(${webhookIds}::uuid[])`.execute(db);
  return new Map(rows.map(({ webhookId, laneName }) => [webhookId, laneName]));
}
