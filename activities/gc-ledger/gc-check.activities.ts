import { orgsByName } from '../../domain/crm-orgs/crm-orgs.queries.ts';
import type { ListQuery } from '../../domain/crm/crm-platform.port.ts';
import { answeringOrg, failureText } from '../../domain/crm-orgs/org-rules.ts';
import type { Reads } from '../../domain/data/fenced-reads.ts';
import { environmentByName } from '../../domain/environments/environments.queries.ts';
import { beginGcCheck, endGcCheck, gcCheck } from '../../domain/gc-ledger/gc-checks.mutations.ts';
import { entriesAfter } from '../../domain/gc-ledger/gc-checks.queries.ts';
import type { GcCheckedEnvironment } from '../../domain/gc-ledger/gc-ledger.entities.ts';
import { type Listing, listComponents, noteQueries } from '../../domain/gc-ledger/gc-listing.ts';
import { GC_BATCH_MAX } from '../../domain/gc-ledger/gc-ledger-rules.ts';
import { recordOrgCheck } from '../../domain/gc-ledger/gc-org-check.mutations.ts';
import type { GcBranch } from '../../domain/gc-ledger/gc-review.queries.ts';
import { projectById } from '../../domain/projects/projects.queries.ts';
import { systemActor, type TenantKey } from '../../domain/shared/actor.ts';
import { DomainError, notFound } from '../../domain/shared/errors.ts';
import type { GcCheckInput } from '../../workflows/gc-ledger/gc-check.contract.ts';
import type { Deps } from '../deps.ts';
import { withHeartbeat } from '../heartbeat.ts';

const checker = (tenant: TenantKey) => systemActor(tenant, 'gc-check');
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

export const createGcCheckActivities = (deps: Deps) => ({
  /** The environments to check; undefined for a check that has ended. */
  beginCheck: ({ checkId, ...tenant }: GcCheckInput): Promise<string[] | undefined> =>
    deps.actingAs(checker(tenant))((tx) => beginGcCheck(tx, checkId)),

  /** Lists what the org of an environment has, and records that for all entries of the branch. */
  checkOrg: ({
    checkId,
    environment: name,
    ...tenant
  }: GcCheckInput & { environment: string }): Promise<GcCheckedEnvironment> =>
    withHeartbeat(async (signal) => {
      const inTenant = deps.actingAs(checker(tenant));
      const outcome = { environment: name, present: 0, absent: 0, unknown: 0, error: null as string | null };
      try {
        const { place, username } = await inTenant(async (tx) => {
          const check = await gcCheck(tx, checkId);
          const project = await projectById(tx, check.projectId);
          const environment = await environmentByName(tx, check.projectId, name);
          if (!project || !environment) throw notFound(`Environment ${name}`);
          return { place: { project, branch: check.branch }, username: environment.orgUsername ?? '' };
        });
        const at = { projectId: place.project.id, branch: place.branch };
        const reads = deps.reads.as(checker(tenant));
        // What is detected while the org is asked was not asked for.
        const checkedAt = deps.now();
        const listing = await listingOf(deps, tenant, reads, at, username, signal);
        outcome.error = listing.failure ? failureText(`The org ${username}`, listing.failure) : null;
        for await (const entries of pagesOf(reads, at)) {
          const results = entries.map(({ packageName, componentType, fullName }) => {
            const presence = listing.presenceOf({ componentType, fullName });
            outcome[presence]++;
            return { packageName, componentType, fullName, presence };
          });
          await inTenant((tx) => recordOrgCheck(tx, place, { environment: name, results, checkedAt }));
          signal.throwIfAborted();
        }
      } catch (error) {
        // What was removed or changed meanwhile does not come back by trying again.
        if (!(error instanceof DomainError)) throw error;
        outcome.error = error.message;
      }
      return outcome;
    }),

  async endCheck({
    checkId,
    environments,
    error,
    ...tenant
  }: GcCheckInput & { environments: GcCheckedEnvironment[]; error: string | null }): Promise<void> {
    await deps.actingAs(checker(tenant))((tx) => endGcCheck(tx, checkId, { environments, error }));
  },
});
export type GcCheckActivities = ReturnType<typeof createGcCheckActivities>;

/** Entries of a branch, page by page; those that a check removes are not missed, since pages go by id. */
async function* pagesOf(reads: Reads, at: GcBranch) {
  let after = FIRST_ID;
  for (;;) {
    const page = await entriesAfter(reads, at, after, GC_BATCH_MAX);
    if (page.length === 0) return;
    yield page;
    after = page.at(-1)?.id ?? after;
  }
}

async function listingOf(
  { crm }: Deps,
  tenant: TenantKey,
  reads: Reads,
  at: GcBranch,
  username: string,
  signal: AbortSignal,
): Promise<Listing> {
  const org = answeringOrg(await orgsByName(reads, username), username);
  if (!org) {
    const message = 'It is not registered.';
    const failure = { isOk: false, kind: 'refused', code: null, message, hint: 'Register it.' } as const;
    return { presenceOf: () => 'unknown', failure };
  }
  const queries = new Map<string, ListQuery>();
  for await (const page of pagesOf(reads, at)) noteQueries(queries, page);
  const calls = crm.connections.callOrg({ ...tenant, orgId: org.id }, { isBackground: true, signal });
  return listComponents(calls, queries.values());
}
