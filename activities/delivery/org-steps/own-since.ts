import { isAnotherAsked, stepsWithIds, type StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { longId } from '../../../domain/orgs/crm/org-id-rules.ts';
import type { Deps } from '../../deps.ts';
import type { ActedOrg } from './act-in-org.ts';
import { type Beginning, CANNOT_TELL } from './begin-once.ts';

/** Clocks of the service and of the org may differ by so much. */
const SKEW_MS = 120_000;

/**
 * Looks for what a step began, among all that the org shows of the service's own user since then and that no other step
 * knows of: one is it, unless another step, too, waits to learn what it began; several cannot be told apart.
 * @param soql of the Tooling interface. @param member of its rows that has the id.
 */
export const ownSince =
  (
    { reads }: Pick<Deps, 'reads'>,
    tenant: TenantKey,
    { orgId, calls }: ActedOrg,
    step: StepRow,
    { soql, member }: { soql: (userId: string, since: Date) => string; member: string },
  ): Beginning['find'] =>
  async (askedAt) => {
    const identity = await calls.identity();
    if (!identity.isOk) return identity;
    const since = new Date(askedAt.getTime() - SKEW_MS);
    const found = await calls.query(soql(identity.value.userId, since), { isTooling: true });
    if (!found.isOk) return found;
    const ids = [...new Set(found.value.rows.map((row) => longId(String(row[member]))))];
    const reading = reads.as(systemActor(tenant, 'flow'));
    const known = await stepsWithIds(reading, orgId, ids);
    const others = new Set(known.filter(({ id }) => id !== step.id).map(({ externalId }) => externalId));
    const [first, ...more] = ids.filter((id) => !others.has(id));
    if (first === undefined) return { isOk: true, value: null };
    const isShared = more.length > 0 || (await isAnotherAsked(reading, orgId, step, since));
    return { isOk: true, value: isShared ? CANNOT_TELL : first };
  };
