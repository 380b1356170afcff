import {
  APPLY_EVENTS,
  EVENTS_PER_UPDATE,
  releaseDomain,
} from '../../workflows/release-candidates/release-domain.contract.ts';
import type { Deps } from '../deps.ts';

/** An event that waited for this long was given up by the request that stored it. */
const OVERDUE_SECONDS = 30;
/** The most domains of one sweep; the others have their turn in the next. */
const MOST_DOMAINS = 100;
const ANSWER_MS = 20_000;

interface OverdueDomain {
  tenantId: string;
  projectId: string;
  repositoryIdentifier: string;
  domain: string;
  eventIds: string[];
}

// `event.created_at` orders the events of a domain as they were reported.
const OVERDUE = `
  select event.tenant_id as "tenantId", event.project_id as "projectId", project.identifier as "repositoryIdentifier", event.domain,
    (array_agg(event.id order by event.created_at, event.id))[1:${EVENTS_PER_UPDATE}] as "eventIds"
  from release_deployment event join project on project.tenant_id = event.tenant_id and project.id = event.project_id
  where event.applied_at is null and event.created_at < now() - make_interval(secs => $1)
  group by 1, 2, 3, 4 order by min(event.created_at) limit ${MOST_DOMAINS}`;

/** Asks the domains whose stored events nobody applied: Temporal was away, or a process died before it asked. */
export async function sweepReleaseEvents(
  { systemPool, launch, log }: Deps,
  overdueSeconds = OVERDUE_SECONDS,
): Promise<number> {
  const { rows } = await systemPool.query<OverdueDomain>(OVERDUE, [overdueSeconds]);
  const asked = rows.map(async ({ eventIds, ...domain }) => {
    try {
      await launch.ask(releaseDomain, domain, APPLY_EVENTS, eventIds, ANSWER_MS);
      return eventIds.length;
    } catch (error) {
      log.warn({ err: error, ...domain }, 'release events still wait');
      return 0;
    }
  });
  return (await Promise.all(asked)).reduce((sum, count) => sum + count, 0);
}
