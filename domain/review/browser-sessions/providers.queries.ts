import { sql, type SqlBool } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { usableIntegration } from '../../projects/integrations/integrations.queries.ts';
import { HOST_SILENT_SECONDS } from './hosts/browser-hosts.queries.ts';
import type { BrowserProviderName } from './browser-provider.port.ts';
import type { Isolation } from '../../kernel/settings/isolation-rules.ts';

/** The browser hosts that are alive, together. */
export interface LocalHosts {
  hosts: number;
  places: number;
  placesUsed: number;
  /** Isolation of the least isolated host. */
  isolation: Isolation | null;
  /** Whether any of them records. */
  records: boolean;
  /** Why one of them allocates no browsers, or does not record. */
  trouble: string | null;
}

export async function localHosts({ db }: Pick<Reads, 'db'>): Promise<LocalHosts> {
  const found = await db
    .selectFrom('browser_host')
    .where(sql<SqlBool>`seen_at > now() - make_interval(secs => ${HOST_SILENT_SECONDS})`)
    .select([
      sql<number>`count(*)::int`.as('hosts'),
      sql<number>`coalesce(sum(places), 0)::int`.as('places'),
      sql<number>`coalesce(sum(places_used), 0)::int`.as('placesUsed'),
      sql<Isolation | null>`max(isolation) filter (where isolation = 'none')`.as('open'),
      sql<Isolation | null>`max(isolation) filter (where isolation = 'sandboxed')`.as('sandboxed'),
      sql<Isolation | null>`max(isolation) filter (where isolation = 'jailed')`.as('jailed'),
      sql<boolean>`coalesce(bool_or(records), false)`.as('records'),
      sql<string | null>`max(trouble)`.as('trouble'),
    ])
    .executeTakeFirstOrThrow();
  const { open, sandboxed, jailed, ...rest } = found;
  return { ...rest, isolation: open ?? sandboxed ?? jailed };
}

/** Whether the project, or the tenant, has the credentials of a hosted provider. */
export const hasHostedProvider = async (reads: Reads, projectId: string | undefined): Promise<boolean> =>
  (await usableIntegration(reads, 'browser', projectId)) !== undefined;

/** Why no host of this installation allocates browsers. */
export function whyNotLocal({ hosts, places, trouble }: LocalHosts): string | null {
  if (hosts === 0)
    return 'No browser host is running: start one with `npm run start:browser-host`, which needs Chromium, or add an integration of kind `browser`';
  return places === 0 ? (trouble ?? 'No browser host has a slot') : null;
}

/** What could execute sessions of a project, or of the tenant, and what does. */
export async function availableProviders(
  reads: Reads,
  projectId: string | undefined,
  { isExecutedOutside }: { isExecutedOutside: boolean },
) {
  const [isHosted, local] = await Promise.all([hasHostedProvider(reads, projectId), localHosts(reads)]);
  const whyLocal = whyNotLocal(local);
  const provider = isExecutedOutside ? 'external' : isHosted ? 'browserbase' : whyLocal === null ? 'local' : null;
  return {
    provider,
    reason: provider === null ? whyLocal : null,
    external: {
      available: isExecutedOutside,
      reason: isExecutedOutside
        ? null
        : 'No command executes record-session (COMMANDS_FILE), and the project has no `recordPipeline`',
    },
    browserbase: {
      available: isHosted,
      reason: isHosted ? null : 'There is no active integration of kind `browser`',
    },
    local: { ...local, available: whyLocal === null, reason: whyLocal },
  } satisfies Record<string, unknown> & { provider: BrowserProviderName | null };
}
