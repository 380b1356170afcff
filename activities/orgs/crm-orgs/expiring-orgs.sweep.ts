import { announceOrgExpiry } from '../../../domain/orgs/crm-orgs/crm-orgs.mutations.ts';
import { expiringOrgs } from '../../../domain/orgs/crm-orgs/crm-orgs.queries.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { defineSweep } from '../../kernel/system/define-sweep.ts';

const ANNOUNCED_DAYS_BEFORE = 3;

/** Announces orgs that expire soon, each once. */
export const expiringOrgsSweep = defineSweep({
  name: 'expiring-orgs',
  everyMs: 60_000,
  isRoutine: true,
  due: ({ system }, limit) => expiringOrgs(system, ANNOUNCED_DAYS_BEFORE, limit),
  key: ({ id }) => id,
  handle: ({ actingAs }, { id, ...tenant }) => actingAs(systemActor(tenant, 'crm'))((tx) => announceOrgExpiry(tx, id)),
});
