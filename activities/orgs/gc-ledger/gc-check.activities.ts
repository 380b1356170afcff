import { orgsByName } from '../../../domain/orgs/crm-orgs/crm-orgs.queries.ts';
import type { ListQuery } from '../../../domain/orgs/crm/crm-metadata.port.ts';
import { failureText } from '../../../domain/orgs/crm-orgs/tokens/org-failure-rules.ts';
import { answeringOrg } from '../../../domain/projects/environments/org-name-rules.ts';
import type { Reads } from '../../../domain/kernel/data/fenced-reads.ts';
import { environmentByName } from '../../../domain/projects/environments/environments.queries.ts';
import { beginGcCheck, endGcCheck, gcCheck } from '../../../domain/orgs/gc-ledger/gc-checks.mutations.ts';
import { entriesAfter } from '../../../domain/orgs/gc-ledger/gc-checks.queries.ts';
import type { GcCheckedEnvironment } from '../../../domain/orgs/gc-ledger/gc-ledger.entities.ts';
import { type Listing, listComponents, noteQueries } from '../../../domain/orgs/gc-ledger/gc-listing.ts';
import { GC_BATCH_MAX } from '../../../domain/orgs/gc-ledger/gc-ledger-rules.ts';
import { recordOrgCheck, recordUncheckedOrg } from '../../../domain/orgs/gc-ledger/gc-org-check.mutations.ts';
import type { GcBranch } from '../../../domain/orgs/gc-ledger/gc-review.queries.ts';
import { projectById } from '../../../domain/projects/projects/projects.queries.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { DomainError, notFound } from '../../../domain/kernel/shared/errors.ts';
import type { GcCheckInput } from '../../../workflows/orgs/gc-ledger/gc-check.contract.ts';
import type { Deps } from '../../deps.ts';
import { withHeartbeat } from '../../heartbeat.ts';

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
      try {
        const target = await targetOf(deps, tenant, checkId, name);
        // What is detected while the org is asked was not asked for.
        const checkedAt = new Date(Math.max(deps.now().getTime(), target.askedSince.getTime()));
        const listing = await listingOf(deps, tenant, target, signal);
        const error = listing.failure ? failureText(`The org ${target.username}`, listing.failure) : null;
        return { ...(await recordListing(deps, tenant, target, { ...listing, checkedAt }, signal)), error };
      } catch (error) {
        // What was removed or changed meanwhile does not come back by trying again.
        if (!(error instanceof DomainError)) throw error;
        return recordUnknown(deps, { ...tenant, checkId, environment: name }, error.message);
      }
    }),

  /** Records that nothing is known of an org whose check did not end: what it said before counts no longer. */
  recordUnchecked: (input: GcCheckInput & { environment: string; error: string }): Promise<GcCheckedEnvironment> =>
    recordUnknown(deps, input, input.error),

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

/** The org that an environment names, and the ledger of the branch. */
type Target = Awaited<ReturnType<typeof targetOf>>;

/** Throws `not_found`. */
const targetOf = (deps: Deps, tenant: TenantKey, checkId: string, name: string) =>
  deps.actingAs(checker(tenant))(async (tx) => {
    const check = await gcCheck(tx, checkId);
    const project = await projectById(tx, check.projectId);
    const environment = await environmentByName(tx, check.projectId, name);
    if (!project || !environment) throw notFound(`Environment ${name}`);
    const place = { project, branch: check.branch };
    return { name, place, username: environment.orgUsername ?? '', askedSince: new Date(check.createdAt) };
  });

const branchOf = ({ place: { project, branch } }: Target): GcBranch => ({ projectId: project.id, branch });

/** Records what a listing says of all entries of the branch. */
async function recordListing(
  deps: Deps,
  tenant: TenantKey,
  target: Target,
  { presenceOf, checkedAt }: Pick<Listing, 'presenceOf'> & { checkedAt: Date },
  signal: AbortSignal,
): Promise<GcCheckedEnvironment> {
  const { name: environment, place, username: orgUsername, askedSince } = target;
  const outcome = { environment, present: 0, absent: 0, unknown: 0, error: null };
  for await (const entries of pagesOf(deps.reads.as(checker(tenant)), branchOf(target))) {
    const results = entries.map(({ packageName, componentType, fullName }) => {
      const presence = presenceOf({ componentType, fullName });
      outcome[presence]++;
      return { packageName, componentType, fullName, presence };
    });
    const check = { environment, results, checkedAt, orgUsername, askedSince };
    await deps.actingAs(checker(tenant))((tx) => recordOrgCheck(tx, place, check));
    signal.throwIfAborted();
  }
  return outcome;
}

/** Records that nothing is known of an org; of an environment that is gone, there is nothing to record. */
async function recordUnknown(
  deps: Deps,
  { checkId, environment, ...tenant }: GcCheckInput & { environment: string },
  error: string,
): Promise<GcCheckedEnvironment> {
  const outcome = { environment, present: 0, absent: 0, unknown: 0, error };
  try {
    const { place } = await targetOf(deps, tenant, checkId, environment);
    const unknown = await deps.actingAs(checker(tenant))((tx) => recordUncheckedOrg(tx, place, environment));
    return { ...outcome, unknown };
  } catch (reason) {
    if (!(reason instanceof DomainError)) throw reason;
    return outcome;
  }
}

async function listingOf(deps: Deps, tenant: TenantKey, target: Target, signal: AbortSignal): Promise<Listing> {
  const reads = deps.reads.as(checker(tenant));
  const { username } = target;
  const org = answeringOrg(await orgsByName(reads, username), username);
  if (!org) {
    const message = 'It is not registered.';
    const failure = { isOk: false, kind: 'refused', code: null, message, hint: 'Register it.' } as const;
    return { presenceOf: () => 'unknown', failure };
  }
  const queries = new Map<string, ListQuery>();
  for await (const page of pagesOf(reads, branchOf(target))) noteQueries(queries, page);
  const calls = deps.crm.connections.callOrg({ ...tenant, orgId: org.id }, { isBackground: true, signal });
  return listComponents(calls, queries.values());
}
