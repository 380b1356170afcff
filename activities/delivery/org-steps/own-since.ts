import { isAnotherAsked, stepsWithIds, type StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import type { CrmAnswer } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { longId } from '../../../domain/orgs/crm/org-id-rules.ts';
import type { Deps } from '../../deps.ts';
import type { ActedOrg } from './act-in-org.ts';
import { type Beginning, CANNOT_TELL } from './begin-once.ts';

/** Clocks of the service and of the org may differ by so much. */
const SKEW_MS = 120_000;

interface OwnSince {
  /** A query of the Tooling interface. */
  soql: (userId: string, since: Date) => string;
  /** The member of its rows that has the id. */
  member: string;
  /** Whether one can be what the step asked for, as far as the org shows what was asked for. */
  mayBe: (id: string) => Promise<CrmAnswer<boolean | typeof CANNOT_TELL>>;
}

/**
 * Looks for what a step began, among all that the org shows of the service's own user since then and that no other step
 * knows of, and that can be it by what was asked for: one is it, unless another step, too, waits to learn what it began; several cannot be told apart.
 */
export const ownSince =
  (
    { reads }: Pick<Deps, 'reads'>,
    tenant: TenantKey,
    { orgId, calls }: ActedOrg,
    step: StepRow,
    { soql, member, mayBe }: OwnSince,
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
    const own: string[] = [];
    let isSure = true;
    for (const id of ids.filter((each) => !others.has(each))) {
      const could = await mayBe(id);
      if (!could.isOk) return could;
      if (could.value) own.push(id);
      isSure &&= could.value !== CANNOT_TELL;
    }
    const [first, ...more] = own;
    if (first === undefined) return { isOk: true, value: null };
    const isShared = !isSure || more.length > 0 || (await isAnotherAsked(reading, orgId, step, since));
    return { isOk: true, value: isShared ? CANNOT_TELL : first };
  };
