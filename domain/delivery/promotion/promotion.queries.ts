import { sql } from 'kysely';
import { isOneOf } from '../../kernel/data/conditions.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { statement } from '../../kernel/data/statement.ts';
import type { ReadDatabase } from '../../kernel/data/tables.ts';
import { freezeOf, type MaintenanceEntry } from '../../orgs/org-maintenance/maintenance-rules.ts';
import { maintenanceByName } from '../../orgs/org-maintenance/org-maintenance.queries.ts';
import type { PromotionPolicy } from '../../projects/policies/promotion-policy-rules.ts';

/**
 * The environments of these ids, in the order in which releases travel. Maintenance of their orgs is among their freezes.
 */
export async function promotionTargets(reads: Reads, environmentIds: readonly string[]) {
  const { db, tenantId } = reads;
  const targets = await db
    .selectFrom('environment')
    .where('tenantId', '=', tenantId)
    .where('id', '=', sql<string>`any (${environmentIds}::uuid[])`)
    .orderBy('orchestrationOrder')
    .orderBy('name')
    .select(['id', 'projectId', 'name', 'branch', 'orgUsername', 'promotion', 'orchestrationOrder'])
    .execute();
  return withMaintenance(reads, targets);
}

interface Target {
  orgUsername: string | null;
  promotion: PromotionPolicy | null;
}

/** Environments with the maintenance of their orgs among their freezes. */
export async function withMaintenance<Environment extends Target>(
  reads: Reads,
  environments: readonly Environment[],
): Promise<Environment[]> {
  const names = environments.flatMap(({ orgUsername }) => orgUsername ?? []);
  const maintenance = await maintenanceByName(reads, names);
  return environments.map((each) => {
    const entries = each.orgUsername === null ? undefined : maintenance.get(each.orgUsername.toLowerCase());
    return entries === undefined ? each : { ...each, promotion: withFreezes(each.promotion, entries) };
  });
}

const withFreezes = (policy: PromotionPolicy | null, entries: readonly MaintenanceEntry[]): PromotionPolicy => ({
  ...policy,
  freezes: [...(policy?.freezes ?? []), ...entries.map(freezeOf)],
});

/** Statuses of runs that look again when a window, a hold or a deployment changes, as the predicate of their index has them. */
const WAITING = ['waiting_window', 'waiting_hold'] as const;

const waitingRuns = (db: ReadDatabase) =>
  db
    .selectFrom('flow_run')
    .where(
      'status',
      'in',
      WAITING.map((status) => sql.lit(status)),
    )
    .where('hasWorkflow', '=', true)
    .select(['id as runId', 'taskType', 'workflowPath']);

/** Runs that may wait for a window of an environment, for a hold or for a deployment to it: those of its project, and those to its org. */
export const runsWaitingForWindows = ({ db, tenantId }: Reads, { id, projectId }: { id: string; projectId: string }) =>
  waitingRuns(db)
    .where('tenantId', '=', tenantId)
    .where((eb) => eb.or([eb('projectId', '=', projectId), eb('environmentId', '=', id), eb('projectId', 'is', null)]))
    .execute();

const WITH_RELEASE = statement<{ tenantId: string; projectId: string; domain: string; releaseName: string }>()(
  (db, { tenantId, projectId, domain, releaseName }) =>
    waitingRuns(db)
      .where('tenantId', '=', tenantId)
      .where('projectId', '=', projectId)
      .where('domain', '=', domain)
      .where('releaseName', '=', releaseName),
);

/** Runs that take one release and wait for their promotion. */
export const runsWaitingWith = (
  { db, tenantId }: Reads,
  projectId: string,
  { domain, releaseName }: { domain: string; releaseName: string },
) => WITH_RELEASE(db, { tenantId, projectId, domain, releaseName });

/** Ids of environments of a project by name. */
export async function environmentIdsByName(
  { db, tenantId }: Reads,
  projectId: string,
  names: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('environment')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where((eb) => isOneOf(eb, 'name', names))
    .select(['id', 'name'])
    .execute();
  return new Map(rows.map(({ id, name }) => [name, id]));
}
