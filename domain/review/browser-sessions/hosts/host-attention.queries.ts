import { sql } from 'kysely';
import type { AttentionRule } from '../../../kernel/attention/attention-rule.ts';
import { isoOf } from '../../../kernel/text/date-time-rules.ts';
import { hasHostedProvider, localHosts, whyNotLocal } from '../providers.queries.ts';

/** A tenant whose last local browser is older does without. */
const USED_DAYS = 30;

/** No browser host allocates browsers, and the tenant has used them and has no other provider. */
export const missingHosts: AttentionRule = {
  kind: 'browser_hosts_missing',
  shownBy: 'listBrowserProviders',
  action: 'listBrowserProviders',
  async find(reads) {
    const why = whyNotLocal(await localHosts(reads));
    if (why === null || (await hasHostedProvider(reads, undefined))) return [];
    const { db, tenantId } = reads;
    const { last, served } = await db
      .selectFrom('browser_session')
      .where('tenantId', '=', tenantId)
      .where('provider', '=', 'local')
      .where('createdAt', '>', sql<string>`now() - make_interval(days => ${sql.lit(USED_DAYS)})`)
      .select([
        sql<string | null>`max(created_at)`.as('last'),
        sql<string | null>`max(created_at) filter (where host_id is not null)`.as('served'),
      ])
      .executeTakeFirstOrThrow();
    if (last === null) return [];
    const reason = `${why}. The last browser was asked for at ${isoOf(last)}`;
    return [
      {
        key: tenantId,
        title: 'Browser hosts',
        reason,
        since: isoOf(last),
        repositoryIdentifier: null,
        params: {},
        // Once a host has allocated a browser again, a loss is another one.
        state: `${why} ${served}`,
      },
    ];
  },
};
